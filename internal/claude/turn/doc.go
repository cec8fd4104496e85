// Package turn runs turns of a conversation without a terminal: one claude, which reads and writes
// lines of JSON, may take many turns. A cold turn is [Start], [Process.Turn], [Process.Close]; warm
// turns are any number of [Process.Turn] between the other two.
//
//   - A text is sent in the value of a JSON string, and the system prompt in a file. Neither is on
//     the command line, which every user of the machine can read.
//   - Claude's output decides how a turn ended, never an exit code or the subtype of a result alone:
//     claude reports "success" for a 429, and exits with 0 from an interrupted turn. See [Class].
//   - After a process ended in the middle of a turn, [Marked] finds the turn in the transcript: by
//     the id of its text, which Claude keeps, and by the [Marker] with which its context begins.
//
// It relies on what was observed on 2.1.197, 2.1.329 and 2.1.332; outputs are in testdata. It
// stores nothing, locks nothing and kills no process: its caller does.
package turn
