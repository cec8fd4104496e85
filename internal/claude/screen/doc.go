// Package screen reads what Claude Code draws: whether it works, waits at a [Dialog], tries
// the API again, or has left the terminal, and why its last turn failed. A [Reading] depends on
// the text of a pane alone, not on earlier ones.
//
// It relies on how the program draws. Claude's own text begins in the first two columns. The text
// of the model, a tool or a person is further in. So words prove nothing, their place does. The
// screen ends with the input box between two rules, or with the dialog in its place: its answers
// with one cursor, and mostly a line of its keys. A narrow terminal spreads rules, answers and keys
// over several lines. What does not fit is Unknown, never a guess.
//
// All of this was seen on 2.1.197, 2.1.329 and 2.1.332. They differ in details that are named where
// they are used. testdata/screens holds real screens of these versions, and screens that try to
// deceive. A new one is a new file and a line in answers.txt.
//
// The package reads texts only: it opens no file and uses no terminal. Of the other packages
// about Claude Code it imports only live, for the words of the registry.
package screen
