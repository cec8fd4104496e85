package life

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// Starts of all projects of a user take turns on a machine.

// takeTurns takes all turns, as so many starts would, until they are given back.
func (m *team) takeTurns() (giveBack func()) {
	m.Helper()
	dir := filepath.Join(m.World.RunDir, "nbs-worker", "starts")
	m.Must(os.MkdirAll(dir, 0o700))
	const most = 4
	var held []*os.File
	for n := range most {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint("start.", n)), os.O_CREATE|os.O_RDWR, 0o600)
		m.Must(err)
		m.Must(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
		held = append(held, f)
	}
	return func() {
		for _, f := range held {
			_ = f.Close()
		}
	}
}

// waitTurns waits until so many turns are taken.
func (m *team) waitTurns(want int) {
	m.Helper()
	m.WaitFor(fmt.Sprintf("%d turns are taken", want), func() (bool, string) {
		taken := m.turns()
		return taken == want, fmt.Sprintf("%d are", taken)
	})
}

func (m *team) turns() (taken int) {
	m.Helper()
	paths, err := filepath.Glob(filepath.Join(m.World.RunDir, "nbs-worker", "starts", "start.*"))
	m.Must(err)
	for _, path := range paths {
		f, err := os.Open(path)
		m.Must(err)
		if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
			taken++
		}
		m.Must(f.Close())
	}
	return taken
}

// A start that has to wait says so, is starting meanwhile, and goes on when it is its turn.
func TestStartWaitsForItsTurn(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "beta")
	giveBack := m.takeTurns()
	c := m.Console(m.Command([]string{"spawn", "alpha"}))
	c.MustShow("alpha: waiting for other starts: at most ")
	m.MustBe("alpha", "starting")
	m.MustBe("beta", "idle")
	giveBack()
	m.Must(c.Cmd.Wait())
	m.MustBe("alpha", "idle")
}

// A launcher that waits for a turn holds nothing: its agent can be stopped.
func TestStopWhileItsLauncherWaitsForATurn(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha", "--restart", "on-failure")
	launcher := m.Launcher("alpha")
	defer m.takeTurns()()
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitSession("alpha", "waits for its turn", func(s e2e.Session) bool { return strings.Contains(s.Cause, "starts again in 0s") })
	m.OK("stop", "alpha")
	m.Check(e2e.Dead(launcher), "its launcher lives")
	m.MustBe("alpha", "stopped")
}

// Who gives up has started nothing, and the record is kept.
func TestStartThatGivesUpItsTurn(t *testing.T) {
	m := standIn(t)
	defer m.takeTurns()()
	spawn := m.Begin("spawn", "alpha")
	m.WaitFor("it is recorded", func() (bool, string) { r := m.NBS("session", "alpha"); return r.Code == 0, r.String() })
	m.WaitState("alpha", "starting")
	m.Must(spawn.Process.Signal(syscall.SIGINT))
	r := spawn.End()
	m.Check(r.Code == 130 && strings.Contains(r.Stderr, "interrupted while waiting for other starts; claude was not started"), "%s", r)
	m.MustBe("alpha", "never started")
}

// One in a person's own terminal takes a turn as well, and gives it back when claude is ready.
func TestStartInATerminalTakesATurn(t *testing.T) {
	m := standIn(t, "start-delay=2s")
	c := m.Console(m.Command([]string{"spawn", "alpha", "--foreground"}))
	m.waitTurns(1)
	m.WaitState("alpha", "idle")
	m.waitTurns(0)
	m.OK("stop", "alpha")
	_ = c.Cmd.Wait() // it ends with claude's code

	giveBack := m.takeTurns()
	again := m.Console(m.Command([]string{"run", "alpha"}))
	again.MustShow("alpha: waiting for other starts: at most ")
	giveBack()
	m.WaitState("alpha", "idle")
	m.OK("stop", "alpha")
	_ = again.Cmd.Wait()
}
