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

// Stuck reports whether a tmux server cannot answer: it is stopped, or it spins at its limit of open files.
func Stuck(m *machine.Machine, pid int) bool {
	files, err := m.FilesOf(pid)
	return m.Halted(pid) || err == nil && files.Full()
}

// Diagnose adds what the server's process shows to the error of a server that gave no answer.
func Diagnose(m *machine.Machine, server interface{ ServerPID() (int, error) }, handle agent.Handle, err error) error {
	if err == nil || fail.KindOf(err) != fail.TimedOut {
		return err
	}
	pid, unknown := server.ServerPID()
	if unknown != nil {
		return err
	}
	files, unknown := m.FilesOf(pid)
	elsewhere := fmt.Sprintf("or start the agent in another server: nbs-worker resume %s --force --tmux-socket rescue", handle)
	switch {
	case m.Halted(pid):
		return &StuckError{fail.Errorf(fail.TimedOut, "%w: its server, pid %d, is stopped", err, pid).
			Hint("let it go on: kill -CONT %d", pid).Hint("%s", elsewhere)}
	case unknown == nil && files.Full():
		full := fail.Errorf(fail.TimedOut, "%w: its server, pid %d, has no free file descriptor (%d of %d in use)", err, pid, files.Open, files.Soft)
		return &StuckError{HintMoreFiles(full, pid, files).Hint("%s", elsewhere)}
	default:
		return fail.Errorf(fail.TimedOut, "%w: its server, pid %d, is busy or hangs", err, pid).
			Hint("look at it: top -p %d", pid).Hint("%s", elsewhere)
	}
}

// HintMoreFiles adds the command that raises the limit of open files of a running server, which does not disturb its
// agents. Only root could raise the hard limit.
func HintMoreFiles(err *fail.Error, pid int, files machine.Files) *fail.Error {
	const plenty = 1 << 16
	if files.Soft >= files.Hard {
		return err
	}
	return err.Hint("give it more, which does not disturb its agents: prlimit --pid %d --nofile=%d:%d", pid, max(files.Soft, min(files.Hard, plenty)), files.Hard)
}
