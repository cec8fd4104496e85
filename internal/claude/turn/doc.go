// Package turn runs turns of a conversation without a terminal: one claude, spoken to in lines of
// JSON, that may take many turns. A cold turn is [Start], [Process.Turn], [Process.Close]; a warm
// one any number of turns between the two.
//
//   - A text travels in the value of a JSON string, and the system prompt in a file: nothing of
//     either is on the command line, which everybody on the machine can read.
//   - How a turn ended is told by what claude said, never by an exit code or the subtype of a
//     result alone: claude says "success" of a 429, and leaves an interrupted turn with code 0.
//     See [Class].
//   - What only the transcript knows, after a process died in the middle of a turn, is told by
//     [Marked]: by the id of its text, which Claude keeps, and by the [Marker] with which a context begins.
//
// It relies on what was observed on 2.1.197 and 2.1.329; outputs of both are in testdata. It
// keeps nothing, locks nothing and kills nobody: its caller does.
package turn
