package life

import (
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A state folder to which nothing can be written, or of which is not known where it would be, keeps no agent alive, and nothing
// is ended for a start that could not be written down. Who looks sees all.
func TestStateFolderThatCannotBeWritten(t *testing.T) {
	m := standIn(t)
	m.Env = append(m.Env, "XDG_RUNTIME_DIR=") // launches are in the state too
	mounts := rig.PrivateMounts(t)
	alpha, beta := m.Remembers("alpha"), m.Remembers("beta")
	mounts.ReadOnly(m.InState())
	m.Refused(1, "read-only file system", "resume", "alpha", "--force")
	m.Check(!e2e.Dead(alpha.RecordedPID), "an agent was ended for nothing")
	m.OK("list")
	m.OK("session", "alpha")
	m.Refused(1, "read-only file system", "stop", "alpha")
	m.Check(e2e.Dead(alpha.RecordedPID), "an agent lives")
	mounts.Unmount(m.InState())

	env := []string{"HOME=", "XDG_STATE_HOME=", "NBS_STATE="}
	for _, args := range [][]string{{"list"}, {"session", "beta"}, {"logs", "beta"}, {"events"}} {
		r := m.NBSWith(env, args...)
		m.Check(r.Code == 0, "%q: %s", args, r)
	}
	for _, args := range [][]string{{"spawn", "gamma"}, {"resume", "beta", "--force"}} {
		r := m.NBSWith(env, args...)
		m.MustRefuse(r, 6, "export XDG_STATE_HOME=")
	}
	m.Check(!e2e.Dead(beta.RecordedPID), "an agent was ended for nothing")
	m.MustRefuse(m.NBSWith(env, "stop", "beta"), 6, "there is no folder for the user's state")
	m.Check(e2e.Dead(beta.RecordedPID), "an agent lives")
	m.MustRemember("beta", beta)
}
