package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A turn whose runner is gone has a parent all the same: the first process, or the user's systemd.
func TestWhoRunsATurn(t *testing.T) {
	t.Parallel()
	this, err := os.Executable()
	rig.Must(t, err)
	child := rig.StartChild(t, exec.Command("cat")).Process.Pid
	rig.Check(t, isBelow(child, filepath.Base(this)), "its parent is this program")
	rig.Check(t, !isBelow(child, "nbs-worker"), "no program of ours is above it")
	rig.Check(t, !isBelow(os.Getpid(), filepath.Base(this)), "a process does not run itself")
}
