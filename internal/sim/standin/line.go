package standin

import (
	"fmt"
	"slices"
)

// line is what is typed, with the cursor in it and what was cut from it. What the real program does line by line, it does
// with all of it.
type line struct {
	input []rune
	at    int // the cursor, in characters from the beginning
	cut   []rune
}

func (l *line) insert(text string) {
	l.input = slices.Insert(l.input, l.at, []rune(text)...)
	l.at += len([]rune(text))
}

func (l *line) clean() { l.input, l.at = nil, 0 }

// edit does what a key does to the line; nothing for any other key.
func (l *line) edit(kind keyKind) {
	switch kind { //nolint:exhaustive // the others change no line
	case keyHome:
		l.at = 0
	case keyLineEnd:
		l.at = len(l.input)
	case keyBackspace:
		if l.at > 0 {
			l.at--
			l.input = slices.Delete(l.input, l.at, l.at+1)
		}
	case keyDelete:
		if l.at < len(l.input) {
			l.input = slices.Delete(l.input, l.at, l.at+1)
		}
	case keyKill:
		if l.at > 0 {
			l.cut = slices.Clone(l.input[:l.at])
			l.input, l.at = slices.Delete(l.input, 0, l.at), 0
		}
	case keyYank:
		l.insert(string(l.cut))
	}
}

// place puts the terminal's cursor, which is behind the footer, to where the line has its own.
func (l *line) place(cols int, footer string) {
	before := box(string(l.input[:l.at]), cols)
	below := len(box(string(l.input), cols)) - len(before) + len(wrap(footer, cols)) + 1
	fmt.Printf("\x1b[%dA\r\x1b[%dC", below, len([]rune(before[len(before)-1])))
}
