package life

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// What a verb will have to write is tried before it ends anything.

// stateFolder, as the first of names, is the user's in place of .nbs.
const stateFolder = "state"

// headName is the name of the head of the team's journal.
func (m *team) headName() string {
	m.Helper()
	entries, err := os.ReadDir(m.InState("journals"))
	if err != nil || len(entries) != 1 {
		m.Fatal(entries, err)
	}
	return entries[0].Name()
}

// inTheWay puts a folder in the place of a file of .nbs.
func (m *team) inTheWay(names ...string) (remove func()) {
	m.Helper()
	path := m.InNbs(names...)
	if names[0] == stateFolder {
		path = m.InState(names[1:]...)
	}
	aside := path + ".aside"
	err := os.Rename(path, aside)
	if err == nil || os.IsNotExist(err) {
		err = os.Mkdir(path, 0o700)
	}
	m.Must(err)
	return func() {
		m.Must(os.Remove(path))
		_ = os.Rename(aside, path)
	}
}

// A start that cannot be written down ends no agent that works.
func TestForceEndsNothingThatCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	for what, names := range map[string][]string{"the journal": {"journal.jsonl"}, "its head": {stateFolder, "journals", ""}, "the lock of the record": {"locks", "alpha.record"}} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			before := m.Remembers("alpha")
			if names[0] == stateFolder {
				names = []string{stateFolder, "journals", m.headName()}
			}
			remove := m.inTheWay(names...)
			r := m.Refused(1, "resume alpha: ", "resume", "alpha", "--force")
			m.Check(!e2e.Dead(before.RecordedPID) && strings.Contains(r.Stderr, names[len(names)-1]), "the agent was ended: %s", r)
			remove()
			m.MustRemember("alpha", before, "--force")
		})
	}
}

// A stop ends the agent all the same, and says what it could not do: a full or read-only disk must not keep the agent
// alive that fills it.
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
			before := m.Remembers("alpha")
			remove := m.inTheWay(c.names...)
			m.Refused(1, c.words, "stop", "alpha")
			m.Check(e2e.Dead(before.RecordedPID), "the agent was left running")
			remove()
			m.MustRemember("alpha", before)
		})
	}
}

// A state folder to which nothing can be written keeps no agent alive, and nothing is ended for
// a start that could not be written down.
func TestStateFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for what, mount := range map[string]func(mounts rig.Mounts, m *team) (words string){
		"read-only": func(mounts rig.Mounts, m *team) string {
			mounts.ReadOnly(m.InState())
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
				mounts = m.StateOnADiskOfItsOwn("256k")
			} else {
				mounts = rig.PrivateMounts(t)
			}
			m.Env = append(m.Env, "XDG_RUNTIME_DIR=") // launches are in the state too
			alpha, beta := m.Remembers("alpha"), m.Remembers("beta")
			words := mount(mounts, m)
			m.Refused(1, words, "resume", "alpha", "--force")
			m.Check(!e2e.Dead(alpha.RecordedPID), "an agent was ended for nothing")
			m.OK("list")
			m.OK("session", "alpha")
			stopped, dismissed := m.NBS("stop", "alpha"), m.NBS("dismiss", "beta")
			m.Check(e2e.Dead(alpha.RecordedPID) && e2e.Dead(beta.RecordedPID), "an agent lives\n%s\n%s", stopped, dismissed)
			m.Check(what != "read-only" || stopped.Code == 1 && dismissed.Code == 1 && strings.Contains(stopped.Stderr, words), "%s\n%s", stopped, dismissed)
		})
	}
}

// fillState fills the disk of the state folder.
func (m *team) fillState() {
	m.Helper()
	f, err := os.Create(m.InState("ballast"))
	m.Must(err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	_ = f.Close()
}

// Where the user's state would be is not known: who looks sees all, what has to be written
// there is refused before anything is ended, and an agent can be ended.
func TestWithoutAStateFolder(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	env := []string{"HOME=", "XDG_STATE_HOME=", "NBS_STATE="}
	const says = "there is no folder for the user's state"
	for _, args := range [][]string{{"list"}, {"session", "alpha"}, {"logs", "alpha"}, {"events"}} {
		r := m.NBSWith(env, args...)
		m.Check(r.Code == 0, "%q: %s", args, r)
	}
	for _, args := range [][]string{{"spawn", "beta"}, {"resume", "alpha", "--force"}} {
		r := m.NBSWith(env, args...)
		m.Check(r.Code == 6 && strings.Contains(r.Stderr, "state") && strings.Contains(r.Stderr, "export XDG_STATE_HOME="), "%q: %s", args, r)
	}
	m.Check(!e2e.Dead(before.RecordedPID), "an agent was ended for nothing")
	r := m.NBSWith(env, "stop", "alpha")
	m.Check(r.Code == 6 && strings.Contains(r.Stderr, says) && e2e.Dead(before.RecordedPID), "%v", r)
	m.MustRemember("alpha", before)
}
