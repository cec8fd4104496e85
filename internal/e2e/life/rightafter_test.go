package life

import (
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"

	"nbs-worker/internal/sim/rig"
)

// What is said of an agent that was killed just now: it may be dead, or not known to be, and never
// at work.

// A list that is taken right after a kill says how the agent ended: it waits for the kernel, and
// for the launcher, which is writing that down.
func TestListRightAfterAKill(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	m.KeepServer()
	crashed := 0
	for range 4 {
		m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
		if list := m.OK("list"); strings.HasPrefix(list, "alpha\tcrashed\tsignal: killed\t") {
			crashed++
		} else if !strings.HasPrefix(list, "alpha\tunknown\t") { // a machine that is busy for a second
			t.Errorf("right after a kill: %s", list)
		}
		m.WaitState("alpha", "crashed")
		m.OK("resume", "alpha")
	}
	m.Check(crashed != 0, "no list has waited for the launcher")
}

// The same while the kernel does not get to the end of the process: another one has its
// processor.
func TestListWhileTheKilledIsStarved(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	m.KeepServer()
	for _, verb := range [][]string{{"list"}, {"session", "alpha"}} {
		pid := m.Session("alpha").RecordedPID
		feed := rig.Starve(t, pid)
		m.Kill(pid, syscall.SIGKILL)
		out := m.OK(append(verb, "--json")...)
		feed()
		m.Check(strings.Contains(out, `"state":"crashed"`) || strings.Contains(out, `"state":"unknown"`), "right after a kill %s says %s", verb, out)
		m.WaitState("alpha", "crashed")
		m.OK("resume", "alpha")
		m.WaitState("alpha", "idle")
	}
}

// The same while the launcher cannot write the end down: somebody has the record.
func TestListWhileTheLauncherCannotWrite(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.KeepServer()
	lock := flock.New(m.InNbs("locks", "alpha.record"))
	m.Must(lock.Lock())
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	for _, verb := range [][]string{{"list"}, {"session", "alpha"}} {
		out := m.OK(append(verb, "--json")...)
		m.Check(strings.Contains(out, `"state":"unknown"`) && strings.Contains(out, `"running":false`) && strings.Contains(out, `"pid":null`), "%s says %s", verb, out)
	}
	m.Must(lock.Close())
	m.WaitState("alpha", "crashed")
	m.MustRemember("alpha", before)
}
