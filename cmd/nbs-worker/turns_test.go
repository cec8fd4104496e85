package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Starts of all projects of a user take turns on a machine.

// takeTurns takes all turns, as so many starts would, until they are given back.
func (m *team) takeTurns() (giveBack func()) {
	m.Helper()
	dir := filepath.Join(m.world.RunDir, "nbs-worker", "starts")
	m.must(os.MkdirAll(dir, 0o700))
	const most = 4
	var held []*os.File
	for n := range most {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint("start.", n)), os.O_CREATE|os.O_RDWR, 0o600)
		m.must(err)
		m.must(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
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
	m.waitFor(fmt.Sprintf("%d turns are taken", want), func() (bool, string) {
		taken := m.turns()
		return taken == want, fmt.Sprintf("%d are", taken)
	})
}

func (m *team) turns() (taken int) {
	m.Helper()
	paths, err := filepath.Glob(filepath.Join(m.world.RunDir, "nbs-worker", "starts", "start.*"))
	m.must(err)
	for _, path := range paths {
		f, err := os.Open(path)
		m.must(err)
		if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
			taken++
		}
		m.must(f.Close())
	}
	return taken
}

// A start that has to wait says so, is starting meanwhile, and goes on when it is its turn.
func TestStartWaitsForItsTurn(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "beta")
	giveBack := m.takeTurns()
	c := m.console(m.command([]string{"spawn", "alpha"}))
	c.mustShow("alpha: waiting for its turn: ")
	m.mustBe("alpha", "starting")
	m.mustBe("beta", "idle")
	giveBack()
	m.must(c.cmd.Wait())
	m.mustBe("alpha", "idle")
}

// A launcher that waits for a turn holds nothing: its agent can be stopped.
func TestStopWhileItsLauncherWaitsForATurn(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha", "--restart", "on-failure")
	launcher := m.launcher("alpha")
	defer m.takeTurns()()
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitSession("alpha", "waits for its turn", func(s session) bool { return strings.Contains(s.Cause, "starts again in 0s") })
	m.ok("stop", "alpha")
	m.check(dead(launcher), "its launcher lives")
	m.mustBe("alpha", "stopped")
}

// Who gives up has started nothing, and the record is kept.
func TestStartThatGivesUpItsTurn(t *testing.T) {
	m := standIn(t)
	defer m.takeTurns()()
	spawn := m.begin("spawn", "alpha")
	m.waitFor("it is recorded", func() (bool, string) { r := m.nbs("session", "alpha"); return r.code == 0, r.String() })
	m.waitState("alpha", "starting")
	m.must(spawn.Process.Signal(syscall.SIGINT))
	r := spawn.end()
	m.check(r.code == 130 && strings.Contains(r.stderr, "interrupted while it waited for its turn; claude was not started"), "%s", r)
	m.mustBe("alpha", "never started")
}

// One in a person's own terminal takes a turn as well, and gives it back when claude is ready.
func TestStartInATerminalTakesATurn(t *testing.T) {
	m := standIn(t, "start-delay=2s")
	c := m.console(m.command([]string{"spawn", "alpha", "--foreground"}))
	m.waitTurns(1)
	m.waitState("alpha", "idle")
	m.waitTurns(0)
	m.ok("stop", "alpha")
	_ = c.cmd.Wait() // it ends with claude's code

	giveBack := m.takeTurns()
	again := m.console(m.command([]string{"run", "alpha"}))
	again.mustShow("alpha: waiting for its turn: ")
	giveBack()
	m.waitState("alpha", "idle")
	m.ok("stop", "alpha")
	_ = again.cmd.Wait()
}
