// Package recovery brings agents back that are not as they should be, by the repair that takes least
// from them.
//
// [Assess] looks at agents and judges them, by package triage. [Ladder] repairs them, one agent and
// one level at a time: a ping, then interrupt and compact, then a resume, then a new conversation.
// Each level has its own check and time limit, and only what is seen after it counts.
//
//   - A working agent is never touched, nor one that only a person can help.
//   - A ping is a look. To press Enter, as people do, may answer a dialog that has just come up and
//     so approve a command; whether an agent reacts is seen from what grows, and from the state of its
//     process, at looks some seconds apart.
//   - Each step is written down before it is taken and after it: in the journal for people, and as
//     the [runs.Attempt] of the agent. Of a run that was killed the next one knows by a look what
//     came of the last step; none is repeated blindly.
//   - A new conversation is given only where it was permitted, and is told where the old one is.
//   - Nobody else repairs agents of the project meanwhile.
//
// The policy knows the world by two small interfaces; verbs.go is the real one. The package imports
// neither the command line nor what is printed.
package recovery
