// Package health says of a tmux server that gave no answer what its process shows. Of tmux itself it
// knows nothing, and it changes nothing.
package health

import (
	"errors"
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"
)

// StuckError is a tmux server that answers nobody, by the evidence of its process: to wait for
// it is in vain.
type StuckError struct{ error }

func (e *StuckError) Unwrap() error { return e.error }

// InVain passes on why something in tmux is not waited for any longer. A tmux that could not
// be asked says nothing of it, and the deadline decides; with one that is stuck nothing will
// come, and a person is to know at once.
func InVain(err error) error {
	if _, stuck := errors.AsType[*StuckError](err); stuck {
		return err
	}
	return nil
}

// Diagnose says of a server that gave no answer what its process shows.
func Diagnose(server interface{ ServerPID() (int, error) }, handle agent.Handle, err error) error {
	if err == nil || agent.KindOf(err) != agent.TimedOut {
		return err
	}
	pid, unknown := server.ServerPID()
	if unknown != nil {
		return err
	}
	files, unknown := proc.FilesOf(pid)
	elsewhere := fmt.Sprintf("or leave it as it is, and bring the agent up in another server: nbs-worker resume %s --force --tmux-socket rescue", handle)
	switch {
	case proc.Halted(pid):
		return &StuckError{agent.Errorf(agent.TimedOut, "%w: its server, pid %d, is stopped", err, pid).
			Hint("let it go on: kill -CONT %d", pid).Hint("%s", elsewhere)}
	case unknown == nil && files.Full():
		full := agent.Errorf(agent.TimedOut, "%w: its server, pid %d, has no file descriptor left (%d of %d)", err, pid, files.Open, files.Soft)
		return &StuckError{HintMoreFiles(full, pid, files).Hint("%s", elsewhere)}
	default:
		return agent.Errorf(agent.TimedOut, "%w: its server, pid %d, is busy or hangs", err, pid).
			Hint("look at it: top -p %d", pid).Hint("%s", elsewhere)
	}
}

// HintMoreFiles names the command that raises a server's limit of open files, while it runs;
// agents live through it. Beyond the hard limit only root could.
func HintMoreFiles(err *agent.Error, pid int, files proc.Files) *agent.Error {
	const plenty = 1 << 16
	if files.Soft >= files.Hard {
		return err
	}
	return err.Hint("give it more, its agents live through it: prlimit --pid %d --nofile=%d:%d", pid, max(files.Soft, min(files.Hard, plenty)), files.Hard)
}
