package observe

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// A job is over when the folder of its tmux server is gone, and not when that cannot be seen.
func TestAJobThatIsOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	rig.Must(t, os.WriteFile(file, nil, 0o600))
	for path, want := range map[string]bool{file: false, filepath.Join(dir, "gone/tmux"): true, filepath.Join(file, "tmux"): false} {
		p := &agent.Process{Job: "slurm/a", Tmux: &agent.TmuxPlace{Path: path}}
		rig.Equal(t, jobIsOver(p), want, "%s", path)
	}
	rig.Equal(t, jobIsOver(&agent.Process{}), false, "of no job")
}
