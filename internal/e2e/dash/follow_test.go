package dash

import (
	"os/exec"
	"strings"
	"syscall"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// follower is a command that prints each change until it is ended.
type follower struct {
	*team

	cmd *exec.Cmd
	out *e2e.LockedBuffer
}

// openWith shows a verb at a desk of this size.
func (m *team) openWith(verb string, width, height int) *desk {
	m.Helper()
	return m.sit(width, height, m.Worker+" "+verb+"; echo left with $?; exec cat")
}

func (m *team) follows(args ...string) *follower {
	m.Helper()
	w := &follower{m, m.Command(args), &e2e.LockedBuffer{}}
	w.cmd.Stdout, w.cmd.Stderr = w.out, w.out
	m.Must(w.cmd.Start())
	m.Cleanup(func() { _ = w.cmd.Process.Kill() })
	return w
}

func (w *follower) seen() string { return w.out.String() }

// says waits until the command has printed the words.
func (w *follower) says(words string) {
	w.Helper()
	rig.WaitFor(w, "it prints "+words, func() (bool, string) { return strings.Contains(w.seen(), words), w.seen() })
}

// ends ends it by a signal.
func (w *follower) ends(signal syscall.Signal) {
	w.Helper()
	w.Must(w.cmd.Process.Signal(signal))
	_ = w.cmd.Wait()
	rig.Equal(w, w.cmd.ProcessState.ExitCode(), 130, "the exit code after %s", signal)
}
