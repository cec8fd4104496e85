package tmux

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
)

// How much a client may print, in bytes: a line for each of 100,000 panes, and a complaint.
const (
	outputLimit    = 16 << 20
	complaintLimit = 64 << 10
)

var errFlood = errors.New("more than tmux prints")

// none is the descriptor of what is not open; poll passes over it.
const none = -1

// pipe keeps what a client prints, up to a limit in bytes; a program that prints for ever is
// not tmux.
type pipe struct {
	fd    int // what is read from
	limit int
	text  []byte
}

func newPipe(limit int) pipe { return pipe{fd: none, limit: limit} }

// open makes the pipe and returns the end that is written to.
func (p *pipe) open() (end int, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return none, os.NewSyscallError("pipe2", err)
	}
	p.fd = ends[0]
	return ends[1], nil
}

func (p *pipe) isOpen() bool { return p.fd != none }

func (p *pipe) close() {
	if p.isOpen() {
		_ = unix.Close(p.fd)
		p.fd = none
	}
}

// readIf reads once where poll found something, and closes the pipe at its end. Errors:
// [errFlood].
func (p *pipe) readIf(found unix.PollFd) error {
	const least = 8 << 10 // bytes
	if found.Revents == 0 {
		return nil
	}
	p.text = slices.Grow(p.text, least)
	n, err := unix.Read(p.fd, p.text[len(p.text):cap(p.text)])
	switch {
	case errors.Is(err, unix.EINTR):
		return nil
	case err != nil:
		return os.NewSyscallError("read", err)
	case n == 0:
		p.close()
		return nil
	}
	p.text = p.text[:len(p.text)+n]
	if len(p.text) > p.limit {
		return errFlood
	}
	return nil
}

// flood is what is said of a client that printed too much.
func (c *Client) flood() error {
	return agent.Errorf(agent.Unfit, "tmux printed without end and was ended").
		Hint("is it tmux at all? %s -V", c.binary)
}
