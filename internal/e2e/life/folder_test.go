package life

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// An agent works in the project root. A spawn from a folder below says where that is, and one that names the folder, or
// is typed there, does not.
func TestSpawnSaysTheFolderThatIsNotTheCurrentOne(t *testing.T) {
	m := standIn(t)
	below := filepath.Join(m.World.Project, "api")
	m.Must(os.Mkdir(below, 0o700))
	spawn := func(dir string, args ...string) string {
		cmd := m.Command(append([]string{"spawn"}, args...))
		cmd.Dir = dir
		r := m.Finish(cmd)
		m.Check(r.Code == 0, "%s", r)
		return r.Stderr
	}
	rig.Equal(m, spawn(m.World.Project, "alpha"), "", "in the project root")
	rig.Equal(m, spawn(below, "beta"), "nbs-worker: beta works in \""+m.World.Project+"\", the project root, not in the current folder; to choose another folder: --cwd DIR\n", "below it")
	rig.Equal(m, spawn(below, "gamma", "--cwd", ".", "--trust="+below), "", "with --cwd")
	m.Check(m.Record("gamma")["cwd"] == below && m.Record("beta")["cwd"] == m.World.Project, "they are in %v and %v", m.Record("beta")["cwd"], m.Record("gamma")["cwd"])
}
