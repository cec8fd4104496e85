// Package dash is the dashboard: a full screen of a project's agents, those that need a person first.
//
//   - The model is pure: a key or new rows make the next model and a list of what is to be done.
//   - A verb of the dashboard is a command line of this program, so that it passes the same rights, locks and proofs. It
//     runs beside the screen; what it said last is shown below.
//   - Rows come from a [Source], which looks again when an agent may have changed. Nothing polls.
package dash
