// Package screen reads what Claude Code draws: whether it works, waits at a [Dialog], tries
// the API again, or has left the terminal, and why its last turn came to nothing. A [Reading]
// is made of the text of a pane alone; nothing is remembered from one to the next.
//
// It relies on how the program draws. What Claude itself writes begins in the first two
// columns, and what the model, a tool or a person wrote stands further in; so words prove
// nothing, their place does. The screen ends with the input box between two rules, or with
// the dialog that took its place: its answers with one cursor, and mostly a line of its keys.
// A narrow terminal spreads rules, answers and keys over several lines. What does not fit is
// Unknown, never a guess.
//
// All of this was seen on 2.1.197, 2.1.329 and 2.1.332, and differs in details that are named where
// they are used. testdata/screens holds the screens that were seen, those of both versions
// and those that try to deceive; a new one is a new file and a line in answers.txt.
//
// The package reads texts only: it opens no file and uses no terminal. Of the other packages
// about Claude Code it imports only live, for the words of the registry.
package screen
