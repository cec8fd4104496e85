package cli

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// Streams are the program's terminal, as a value.
type Streams struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	InTTY  bool
	OutTTY bool // a person reads stdout
	ErrTTY bool
	Color  bool
}

// System returns the streams of this process.
func System() Streams {
	in := term.IsTerminal(int(os.Stdin.Fd()))
	out, err := term.IsTerminal(int(os.Stdout.Fd())), term.IsTerminal(int(os.Stderr.Fd()))
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: in, OutTTY: out, ErrTTY: err, Color: out && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// sanitize makes text from files, processes and users harmless for a terminal: line
// breaks and tabs stay, other control characters are shown as question marks.
func sanitize(text string) string {
	return strings.Map(func(r rune) rune {
		if steers(r) {
			return '?'
		}
		return r
	}, text)
}

// steers tells whether a character may make a terminal do something.
func steers(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
