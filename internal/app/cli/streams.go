package cli

import (
	"io"
	"math"
	"os"
	"strings"

	"golang.org/x/sys/unix"
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
	Width  int // of the terminal that stdout is, in columns; 0: not known
}

// System returns the streams of this process. What else it inherited goes to nothing that it starts: a lock that a
// script holds by flock(1) would be held by the tmux server for as long as that lives.
func System() Streams {
	_ = unix.CloseRange(firstInherited, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // kernels before 5.11 do not know it
	isTTY := func(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, InTTY: isTTY(os.Stdin), OutTTY: isTTY(os.Stdout), ErrTTY: isTTY(os.Stderr)}
	if s.OutTTY {
		s.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		s.Width, _, _ = term.GetSize(int(os.Stdout.Fd())) // 0 when it does not say
	}
	return s
}

const firstInherited = 3 // behind stdin, stdout and stderr

// watched is the stdout of cobra, which prints help and completion scripts. It remembers a
// failed write and hides it from cobra, which ignores some failures and takes others for
// errors of the command line.
type watched struct {
	to      io.Writer
	failure error
}

func (w *watched) Write(text []byte) (int, error) {
	if w.failure == nil {
		_, w.failure = w.to.Write(text)
	}
	return len(text), nil
}

// isPlain reports quickly whether a text, as most do, holds nothing but printable ASCII.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// indented makes the lines after the first recognisable as its continuation: text of
// somebody else's must not look like a line of ours.
func indented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		if !strings.HasPrefix(line, "  ") {
			lines[1+i] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}
