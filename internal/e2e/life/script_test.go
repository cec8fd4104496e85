package life

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"nbs-worker/internal/sim/rig"
)

// The scripts in testdata/script/live use the program as one types it, with agents. Claude is the
// stand-in; the folder of the script is the project. What needs no agent is a script of cmd/nbs-worker.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(rig.Root(t), "testdata", "script", "live"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			m := newTeam(t, rig.StandIn(t))
			rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{env.WorkDir}})
			for _, entry := range m.Env {
				name, value, _ := strings.Cut(entry, "=")
				env.Setenv(name, value)
			}
			return nil
		},
	})
}
