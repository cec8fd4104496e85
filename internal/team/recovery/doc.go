// Package recovery repairs agents that are not as they should be, each by the repair that takes least
// from it.
//
// [Assess] looks at agents and judges them, by package triage. [Ladder] repairs them, one agent and
// one level at a time: a ping, then interrupt and compact, then a resume, then a new conversation.
// Each level has its own check and time limit, and only what is seen after it counts.
//
//   - A working agent is never touched, nor one that only a person can help.
//   - A ping is a look. Pressing Enter, as people do, may answer a dialog that has just come up and
//     so approve a command; whether an agent reacts shows in what grows, and in the state of its
//     process, at looks some seconds apart.
//   - Each step is written down before it is taken and after it: in the journal for people, and as
//     the [runs.Attempt] of the agent. After a run that was killed, the next run looks at what came of
//     the last step; no step is repeated blindly.
//   - An agent gets a new conversation only where that was permitted, and is told where the old one is.
//   - Only one run at a time repairs agents of a project.
//
// The policy acts through two small interfaces, [Verbs] and [Memory]; verbs.go has the real ones. The
// package imports neither internal/app/cli nor internal/app/wire.
package recovery
