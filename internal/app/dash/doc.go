// Package dash is the dashboard: a full screen of the agents of one project or of all, those that need a person first.
//
//   - The model is pure: a key or new rows make the next model and a list of what is to be done.
//   - A verb of the dashboard is a command line of this program, so that it passes the same rights, locks and proofs. It
//     runs beside the screen; what it said last is shown below.
//   - Rows come from a [Source], which looks again at the agents that may have changed. Two things go by the clock: what
//     agents use of the machine, while the screen is wide enough to show it; and the screen of an agent that works, while
//     it is shown.
//   - The agents of a host come as a stream over its connection. What the stream does not have is read by short commands
//     there: requests, what agents use, a preview; a second stream has the events of the selected agent.
package dash
