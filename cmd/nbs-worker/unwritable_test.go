package main

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// What a verb will have to write is tried before it ends anything.

// stateFolder, as the first of names, is the user's in place of .nbs.
const stateFolder = "state"

// headName is the name of the head of the team's journal.
func (m *team) headName() string {
	m.Helper()
	entries, err := os.ReadDir(m.inState("journals"))
	if err != nil || len(entries) != 1 {
		m.Fatal(entries, err)
	}
	return entries[0].Name()
}

// inTheWay puts a folder in the place of a file of .nbs.
func (m *team) inTheWay(names ...string) (remove func()) {
	m.Helper()
	path := m.inNbs(names...)
	if names[0] == stateFolder {
		path = m.inState(names[1:]...)
	}
	aside := path + ".aside"
	err := os.Rename(path, aside)
	if err == nil || os.IsNotExist(err) {
		err = os.Mkdir(path, 0o700)
	}
	m.must(err)
	return func() {
		m.must(os.Remove(path))
		_ = os.Rename(aside, path)
	}
}

// A start that cannot be written down ends no agent that works.
func TestForceEndsNothingThatCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	for what, names := range map[string][]string{"the journal": {"journal.jsonl"}, "its head": {stateFolder, "journals", ""}, "the lock of the record": {"locks", "alpha.record"}} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			before := m.remembers("alpha")
			if names[0] == stateFolder {
				names = []string{stateFolder, "journals", m.headName()}
			}
			remove := m.inTheWay(names...)
			r := m.refused(1, "resume alpha: ", "resume", "alpha", "--force")
			m.check(!dead(before.RecordedPID) && strings.Contains(r.stderr, names[len(names)-1]), "the agent was ended: %s", r)
			remove()
			m.mustRemember("alpha", before, "--force")
		})
	}
}

// A stop ends the agent all the same, and says what it could not do.
func TestStopThatCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
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
			m.check(dead(before.RecordedPID), "the agent was left running")
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
	m.check(strings.Contains(r.stdout, "read-only file system") && !strings.Contains(r.stdout, "locks do not work"), "%v", r)
}

// A state folder to which nothing can be written keeps no agent alive, and nothing is ended for
// a start that could not be written down.
func TestStateFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for what, mount := range map[string]func(mounts rig.Mounts, m *team) (words string){
		"read-only": func(mounts rig.Mounts, m *team) string {
			mounts.ReadOnly(m.inState())
			return "read-only file system"
		},
		"full": func(_ rig.Mounts, m *team) string {
			m.fillState()
			return "no space left on device"
		},
	} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			var mounts rig.Mounts
			if what == "full" {
				mounts = m.stateOnADiskOfItsOwn("256k")
			} else {
				mounts = rig.PrivateMounts(t)
			}
			m.env = append(m.env, "XDG_RUNTIME_DIR=") // launches are in the state too
			alpha, beta := m.remembers("alpha"), m.remembers("beta")
			words := mount(mounts, m)
			m.refused(1, words, "resume", "alpha", "--force")
			m.check(!dead(alpha.RecordedPID), "an agent was ended for nothing")
			m.ok("list")
			m.ok("session", "alpha")
			stopped, dismissed := m.nbs("stop", "alpha"), m.nbs("dismiss", "beta")
			m.check(dead(alpha.RecordedPID) && dead(beta.RecordedPID), "an agent lives\n%s\n%s", stopped, dismissed)
			m.check(what != "read-only" || stopped.code == 1 && dismissed.code == 1 && strings.Contains(stopped.stderr, words), "%s\n%s", stopped, dismissed)
		})
	}
}

// stateOnADiskOfItsOwn has the state folder on another file system than all else.
func (m *team) stateOnADiskOfItsOwn(size string) rig.Mounts {
	m.Helper()
	mounts := rig.PrivateMounts(m.T)
	m.must(os.MkdirAll(m.inState(), 0o700))
	mounts.Tmpfs(m.inState(), size)
	return mounts
}

// fillState fills the disk of the state folder.
func (m *team) fillState() {
	m.Helper()
	f, err := os.Create(m.inState("ballast"))
	m.must(err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	_ = f.Close()
}

// Where the user's state would be is not known: who looks sees all, what has to be written
// there is refused before anything is ended, and an agent can be ended.
func TestWithoutAStateFolder(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	env := []string{"HOME=", "XDG_STATE_HOME=", "NBS_STATE="}
	const says = "there is no folder for the user's state"
	for _, args := range [][]string{{"list"}, {"session", "alpha"}, {"logs", "alpha"}, {"events"}} {
		r := m.nbsWith(env, args...)
		m.check(r.code == 0, "%q: %s", args, r)
	}
	for _, args := range [][]string{{"spawn", "beta"}, {"resume", "alpha", "--force"}} {
		r := m.nbsWith(env, args...)
		m.check(r.code == 6 && strings.Contains(r.stderr, "state") && strings.Contains(r.stderr, "export XDG_STATE_HOME="), "%q: %s", args, r)
	}
	m.check(!dead(before.RecordedPID), "an agent was ended for nothing")
	r := m.nbsWith(env, "stop", "alpha")
	m.check(r.code == 6 && strings.Contains(r.stderr, says) && dead(before.RecordedPID), "%v", r)
	m.mustRemember("alpha", before)
}
