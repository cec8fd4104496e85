// Package health explains why a tmux server gave no answer, from the state of its process. It does not know tmux
// itself, and changes nothing.
package health

import (
	"errors"
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine"
)

// StuckError is the error for a tmux server that cannot answer, as its process shows: it is useless to wait for it.
type StuckError struct{ error }

func (e *StuckError) Unwrap() error { return e.error }

// InVain returns err if it is useless to go on waiting for something in tmux: a stuck server will not answer, and a
// person should know at once. For any other error it returns nil: the error proves nothing, and the deadline
// decides.
func InVain(err error) error {
	if _, stuck := errors.AsType[*StuckError](err); stuck {
		return err
	}
	return nil
}

// Stuck reports whether a tmux server cannot answer: it is stopped.
func Stuck(m *machine.Machine, pid int) bool { return m.Halted(pid) }

// Diagnose adds what the server's process shows to the error of a server that gave no answer.
func Diagnose(m *machine.Machine, server interface{ ServerPID() (int, error) }, handle agent.Handle, err error) error {
	if err == nil || fail.KindOf(err) != fail.TimedOut {
		return err
	}
	pid, unknown := server.ServerPID()
	if unknown != nil {
		return err
	}
	elsewhere := fmt.Sprintf("or start the agent in another server: nbs-worker resume %s --force --tmux-socket rescue", handle)
	switch {
	case m.Halted(pid):
		return &StuckError{fail.Errorf(fail.TimedOut, "%w: its server, pid %d, is stopped", err, pid).
			Hint("let it go on: kill -CONT %d", pid).Hint("%s", elsewhere)}
	default:
		return fail.Errorf(fail.TimedOut, "%w: its server, pid %d, is busy or hangs", err, pid).
			Hint("look at it: top -p %d", pid).Hint("%s", elsewhere)
	}
}
