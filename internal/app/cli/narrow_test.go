package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/sim/rig"
)

func TestSessionFitsEightyColumns(t *testing.T) {
	t.Parallel()
	alpha := uitest.Record("alpha")
	alpha.Cwd, alpha.Desired = "/srv/"+strings.Repeat("long/", 30), agent.DesiredRunning
	alpha.Exits = []agent.Exit{{At: time.Now(), Code: 1, UptimeS: 9, LastScreen: strings.Repeat("─", 120) + "\n> words\n" + strings.Repeat("─", 120)}}
	project := newProject(t, alpha)
	deep := filepath.Join(project, strings.Repeat("deep/", 14))
	rig.Must(t, os.MkdirAll(deep, 0o700))
	r := runOn(ui.Streams{OutTTY: true, Width: 80}, "--root", project, "session", "alpha").want(t, 0)
	uitest.MustFit(t, r.out, "\n                 nbs-worker --root "+project+" resume alpha\n", "────…\n", "> words")
	wide := runOn(ui.Streams{OutTTY: true}, "--root", project, "session", "alpha").want(t, 0)
	rig.Check(t, strings.Contains(wide.out, strings.Repeat("─", 120)) && strings.Contains(wide.out, alpha.Cwd+"\n"), "of unknown width:\n%s", wide.out)
}
