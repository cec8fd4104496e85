package release

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// An upgrade replaces the program under a running team. Its agents go on, under the launcher of the old version, which
// the new one speaks to; the next start is by the new one. What only the old version had is gone.
func TestInstallOverARunningTeam(t *testing.T) {
	u := newUser(t)
	u.upgrades(before, older(t))
}

// Each version that has been released is upgraded to this one in the same way: both read the same records and journal,
// and speak over the same socket. The versions are those of the tags.
func TestReleasedVersionsAreUpgraded(t *testing.T) {
	t.Parallel()
	release(t)
	clone := filepath.Join(made.root, "clone")
	for tag := range strings.FieldsSeq(succeeds(t, clone, "git", "tag", "--list", "v[0-9]*")) {
		number := strings.TrimPrefix(tag, "v")
		if number == version {
			continue // the one of this test
		}
		t.Run(number, func(t *testing.T) {
			u := newUser(t)
			source, program := t.TempDir(), filepath.Join(t.TempDir(), "nbs-worker")
			succeeds(t, clone, "sh", "-c", "git archive "+tag+" | tar -x -C "+source)
			succeeds(t, source, "env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-ldflags=-s -w -X nbs-worker/internal/app/cli.stamped="+number, "-o", program, "./cmd/nbs-worker")
			u.upgrades(number, releaseOf(t, number, program))
		})
	}
}

// upgrades installs an old release, has an agent run, and installs this one.
func (u *user) upgrades(number, address string) {
	u.Helper()
	u.installs("nbs-worker "+number+" is installed", "NBS_RELEASE_URL="+address)
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

	u.installs("nbs-worker " + version + " is installed: " + u.program() + " (it was " + number + ")\nman pages and completions: " + u.prefix +
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
