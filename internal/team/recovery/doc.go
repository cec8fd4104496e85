// Package recovery repairs agents that need it, each with the mildest repair that works.
//
// [Assess] looks at agents and judges them with package triage. [Ladder] repairs them, one agent and one level at a
// time: a ping, then interrupt and compact, then a resume, then a new conversation. Each level has its own check and
// time limit, and is judged only by what is seen after it.
//
//   - A working agent is never touched, nor an agent that only a person can help.
//   - A ping only looks. Pressing Enter, as people do, may answer a dialog that has just opened and so approve a
//     command. Whether an agent reacts shows in growing files and in the state of its process, at looks some seconds
//     apart.
//   - Each step is recorded before and after it: in the journal for people, and as the [runs.Attempt] of the agent.
//     After a killed run, the next run looks at the result of the last step; no step is repeated blindly.
//   - An agent gets a new conversation only if that is permitted, and it is told where the old one is.
//   - Only one run at a time repairs agents of a project.
//
// The policy acts through two small interfaces, [Verbs] and [Memory]; verbs.go has the real ones. The package imports
// neither internal/app/cli nor internal/app/wire.
package recovery
