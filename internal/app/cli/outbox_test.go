package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/store/trust"
)

// A record or a message that is damaged hides no other one.
func TestOutboxListBesideWhatIsDamaged(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"), uitest.Record("gamma"))
	damage(t, project, "beta")
	s, err := store.Open(project)
	rig.Must(t, err)
	defer s.Close()
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	s.Use(trust.NewKeeper(home))
	for _, handle := range []agent.Handle{"alpha", "alpha", "gamma"} {
		_, err := s.Outbox(handle).Add(t.Context(), queue.Entry{Text: "to " + string(handle), State: queue.Waiting, Created: time.Now()})
		rig.Must(t, err)
	}
	files, err := filepath.Glob(filepath.Join(project, ".nbs", queue.Folder, "alpha.*.json"))
	rig.Check(t, err == nil && len(files) == 2, "%v, %v", files, err)
	rig.Must(t, os.WriteFile(files[0], []byte("{"), 0o600))
	r := run("--root", project, "outbox", "list").want(t, fail.Failed, "outbox list: alpha: ", "beta: the record", "rm ")
	rig.Check(t, strings.Contains(r.out, "to alpha") && strings.Contains(r.out, "to gamma"), "it lists %s", r.out)
	r = run("--root", project, "outbox", "list", "nobody", "gamma").want(t, fail.NotFound, "outbox list: nobody: no such agent")
	rig.Check(t, strings.Contains(r.out, "to gamma"), "it lists %s", r.out)
}
