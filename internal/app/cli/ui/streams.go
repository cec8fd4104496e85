package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/host"
	"nbs-worker/internal/platform/machine/portable"
)

// Streams are the program's terminal, as a value.
type Streams struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	InTTY  bool
	OutTTY bool // stdout is a terminal
	ErrTTY bool
	Color  bool
	Width  int // of stdout's terminal, in columns; 0: unknown
	// The name that this machine has at the user's other machine, which runs the command here. Its terminal is there.
	Host   string
	Folder string     // of the project at that name, if the other machine names it by --root
	Room   agent.Room // for what the command starts at that other machine's request
}

// System returns the streams of this process. No child process inherits other descriptors. Otherwise the tmux server
// would hold a script's flock(1) lock for as long as it lives.
func System() Streams {
	portable.KeepFromChildren(firstInherited)
	isTTY := func(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }
	as, folder, _ := strings.Cut(os.Getenv(host.AsVariable), " ")
	_ = os.Unsetenv(host.AsVariable) // a tmux server that is started would hand it to agents
	if host.CheckName(as) != nil {
		as, folder = "", ""
	}
	s := Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, InTTY: isTTY(os.Stdin), OutTTY: isTTY(os.Stdout), ErrTTY: isTTY(os.Stderr),
		Host: as, Folder: folder,
	}
	if s.OutTTY {
		s.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		s.Width, _, _ = term.GetSize(int(os.Stdout.Fd())) // 0 if unknown
	}
	return s
}

// Size returns the present size of stdout's terminal, in columns and lines; 0: unknown.
func (s Streams) Size() (width, height int) {
	file, is := s.Out.(*os.File)
	if !is {
		return s.Width, 0
	}
	width, height, _ = term.GetSize(int(file.Fd()))
	return width, height
}

// WhileRead returns a context that ends when stdout has no reader any more. A write would show that too, but a command
// that waits for changes may not write for hours.
func (s Streams) WhileRead(parent context.Context) context.Context {
	file, is := s.Out.(*os.File)
	if !is || s.OutTTY {
		return parent
	}
	ctx, end := context.WithCancel(parent)
	go func() {
		defer end()
		out := []unix.PollFd{{Fd: int32(file.Fd())}} //nolint:gosec // a descriptor is small; asked for are errors and a hang-up alone
		for {
			if _, err := unix.Poll(out, -1); !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	return ctx
}

const firstInherited = 3 // after stdin, stdout and stderr

// Watched is the stdout of cobra, which prints help and completion scripts. It records a failed write and hides it from
// cobra, which ignores some failures and treats others as command line errors.
type Watched struct {
	To      io.Writer
	Failure error
}

func (w *Watched) Write(text []byte) (int, error) {
	if w.Failure == nil {
		_, w.Failure = w.To.Write(text)
	}
	return len(text), nil
}

// isPlain reports whether a text is only printable ASCII, as most are. It is fast.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// Indented marks the lines after the first as a continuation: foreign text must not look like our own output.
func Indented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		if !strings.HasPrefix(line, "  ") {
			lines[1+i] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}
