package life

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// What a verb will have to write is tried before it ends anything.

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
