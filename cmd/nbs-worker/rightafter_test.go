package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
)

// What is said of an agent that was killed just now: it may be dead, or not known to be, and never
// at work.

// A list that is taken right after a kill says how the agent ended: it waits for the kernel, and
// for the launcher, which is writing that down.
func TestListRightAfterAKill(t *testing.T) {
	t.Parallel()
	for name, kills := range map[string]int{"real": 4, "stand-in": 8} {
		t.Run(name, func(t *testing.T) { listRightAfter(t, realIf(t, name == "real"), kills) })
	}
}

func listRightAfter(t *testing.T, m *team, kills int) {
	t.Helper()
	m.remembers("alpha")
	m.keepServer()
	crashed := 0
	for range kills {
		m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
		if list := m.ok("list"); strings.HasPrefix(list, "alpha\tcrashed\tsignal: killed\t") {
			crashed++
		} else if !strings.HasPrefix(list, "alpha\tunknown\t") { // a machine that is busy for a second
			t.Errorf("right after a kill: %s", list)
		}
		m.waitState("alpha", "crashed")
		m.ok("resume", "alpha")
	}
	if crashed == 0 {
		t.Error("no list has waited for the launcher")
	}
}

// The same while the launcher cannot write the end down: somebody has the record.
func TestListWhileTheLauncherCannotWrite(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.keepServer()
	lock := flock.New(m.inNbs("locks", "alpha.record"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	m.kill(before.RecordedPID, syscall.SIGKILL)
	for _, verb := range [][]string{{"list"}, {"session", "alpha"}} {
		out := m.ok(append(verb, "--json")...)
		if !strings.Contains(out, `"state":"unknown"`) || !strings.Contains(out, `"running":false`) || !strings.Contains(out, `"pid":null`) {
			t.Errorf("%s says %s", verb, out)
		}
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	m.waitState("alpha", "crashed")
	m.mustRemember("alpha", before)
}
