package observe

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
)

// An agent is being started while nbs-worker resumes it. A lock that another program signed proves nothing.
func TestWhoIsAtWork(t *testing.T) {
	t.Parallel()
	for program, works := range map[string]bool{"nbs-worker": true, "other": false} {
		dir := t.TempDir()
		opened, err := store.Create(dir)
		rig.Must(t, err)
		defer opened.Close()
		cmd := rig.Command(dir, "alpha", "resume")
		copied := filepath.Join(t.TempDir(), program)
		rig.Must(t, os.Link(cmd.Path, copied))
		cmd.Path = copied
		rig.StartChild(t, cmd).Said()
		rig.Equal(t, StartedBy(local.New(), opened, "alpha", "nbs-worker"), works, "a resume by %s", program)
	}
}
