package recover

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// A claude that is updated, and not there for a while, is waited for: that counts as a failure, and the reason names the
// program. NBS_CLAUDE, which is not set, has nothing to do with it.
func TestClaudeIsUpdatedInMidRun(t *testing.T) {
	m := standIn(t)
	installed := filepath.Join(m.World.RunDir, "installed")
	m.Must(os.Mkdir(installed, 0o700))
	program := filepath.Join(installed, "claude")
	m.Must(os.Symlink(m.Variable("NBS_CLAUDE"), program))
	m.Env = append(m.Env, "NBS_CLAUDE=", "PATH="+installed+":"+m.Variable("PATH"))
	before := m.Remembers("alpha", "--restart", "on-failure")
	update := func(gone func(), back func()) {
		m.Helper()
		was := m.Session("alpha")
		events := len(m.Journaled("alpha"))
		gone()
		m.Kill(was.RecordedPID, syscall.SIGKILL)
		why := func() string { return strings.Join(m.Journaled("alpha")[events:], "\n") }
		m.WaitFor("its start to fail twice", func() (bool, string) { said := why(); return strings.Count(said, "claude cannot be run") >= 2, said })
		m.Check(strings.Contains(why(), program) && !strings.Contains(why(), "NBS_CLAUDE") && !strings.Contains(why(), "held"), "%s", why())
		back()
		m.waitBack(was)
	}
	update(
		func() { m.Must(os.Rename(program, program+".old")) },
		func() { m.Must(os.Rename(program+".old", program)) },
	)
	m.OK("reset", "alpha")
	update( // it is half written
		func() {
			m.Must(os.Rename(program, program+".old"))
			m.Must(os.WriteFile(program, []byte("\x7fELF"), 0o700))
		},
		func() { m.Must(os.Rename(program+".old", program)) },
	)
	m.MustRemember("alpha", before, "--force")
	m.OK("stop", "alpha")
	m.Must(os.Rename(program, program+".old"))
	m.Refused(6, "claude is not on the PATH", "resume", "alpha")
	m.Check(e2e.Exists(program+".old"), "it is gone")
}
