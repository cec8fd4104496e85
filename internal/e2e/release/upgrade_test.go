package release

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// An upgrade replaces the program under a running team. Its agents go on, under the launcher of the old version, which
// the new one speaks to; the next start is by the new one. What only the old version had is gone.
func TestInstallOverARunningTeam(t *testing.T) {
	u := newUser(t)
	u.installs("nbs-worker "+before+" is installed", "NBS_RELEASE_URL="+older(t))
	m := e2e.NewTeam(u.T, rig.StandIn(u.T))
	m.Worker = u.program()
	m.Env = append(m.Env, "PATH="+filepath.Dir(m.Worker)+":"+os.Getenv("PATH"))
	m.OK("spawn", "alpha", "Remember 42.")
	old := m.WaitState("alpha", "idle")
	runs := func() string {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", m.Launcher("alpha")))
		m.Must(err)
		return exe
	}

	u.installs("nbs-worker " + version + " is installed: " + u.program() + " (it was " + before + ")\nman pages and completions: " + u.prefix +
		"/share\nAgents that run go on. Each uses the new version from its next start.\n")
	m.Check(!e2e.Exists(filepath.Join(u.prefix, "share/man/man1/nbs-worker-gone.1")), "a page of the old version is still there")
	m.OK("send", "alpha", "What number?")
	now := m.WaitState("alpha", "idle")
	m.Check(now.PID == old.PID && now.SessionID == old.SessionID, "before %+v, after %+v", old, now)
	rig.Equal(u, runs(), u.program()+" (deleted)", "the launcher's program")
	m.OK("doctor")

	m.OK("stop", "alpha")
	m.OK("resume", "alpha")
	again := m.WaitState("alpha", "idle")
	m.Check(again.PID != old.PID && again.SessionID == old.SessionID, "before %+v, after %+v", old, again)
	rig.Equal(u, runs(), u.program(), "the launcher's program")

	u.installs("Agents that run go on", "--uninstall")
	m.Check(!e2e.Exists(u.prefix), "%q is left", u.files())
	m.Worker = rig.Worker(u.T)
	rig.Equal(u, m.Session("alpha").PID, again.PID, "the agent's process")
	m.OK("dismiss", "alpha")
}
