package main

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// What a verb will have to write is tried before it ends anything.

// inTheWay puts a folder in the place of a file of .nbs.
func (m *team) inTheWay(names ...string) (remove func()) {
	m.Helper()
	path := m.inNbs(names...)
	aside := path + ".aside"
	err := os.Rename(path, aside)
	if err == nil || os.IsNotExist(err) {
		err = os.Mkdir(path, 0o700)
	}
	if err != nil {
		m.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			m.Fatal(err)
		}
		_ = os.Rename(aside, path)
	}
}

// A start that cannot be written down ends no agent that works.
func TestForceEndsNothingThatCannotBeWrittenDown(t *testing.T) {
	for what, names := range map[string][]string{"the journal": {"journal.jsonl"}, "its head": {"journal.head"}, "the lock of the record": {"locks", "alpha.record"}} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			before := m.remembers("alpha")
			remove := m.inTheWay(names...)
			r := m.refused(1, "resume alpha: ", "resume", "alpha", "--force")
			if dead(before.RecordedPID) || !strings.Contains(r.stderr, names[len(names)-1]) {
				t.Errorf("the agent was ended: %s", r)
			}
			remove()
			m.mustRemember("alpha", before, "--force")
		})
	}
}

// A stop ends the agent all the same, and says what it could not do.
func TestStopThatCannotBeWrittenDown(t *testing.T) {
	for what, c := range map[string]struct {
		names []string
		words string
	}{
		"the record":  {[]string{"locks", "alpha.record"}, "stop alpha: it was ended, but could not be marked as stopped: lock .nbs/locks/alpha.record"},
		"the journal": {[]string{"journal.jsonl"}, "stop alpha: it was ended and marked as stopped, but the journal does not say so: open .nbs/journal.jsonl"},
	} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			before := m.remembers("alpha")
			remove := m.inTheWay(c.names...)
			m.refused(1, c.words, "stop", "alpha")
			if !dead(before.RecordedPID) {
				t.Error("the agent was left running")
			}
			remove()
			m.mustRemember("alpha", before)
		})
	}
}

// A folder that can only be read is called that, and not a file system without locks.
func TestDoctorOnAReadOnlyProject(t *testing.T) {
	m := standIn(t)
	mounts := rig.PrivateMounts(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	mounts.ReadOnly(m.inNbs())
	r := m.refused(1, "", "doctor")
	if !strings.Contains(r.stdout, "read-only file system") || strings.Contains(r.stdout, "locks do not work") {
		t.Error(r)
	}
}
