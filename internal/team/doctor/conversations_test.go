package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// A turn whose runner has ended still has a parent: the first process, or the user's systemd.
func TestWhoRunsATurn(t *testing.T) {
	t.Parallel()
	this, err := os.Executable()
	rig.Must(t, err)
	child := rig.StartChild(t, exec.Command("cat")).Process.Pid
	name := func(pid int) string { return map[int]string{1: "init", 7: "systemd", 8: "sh"}[pid] }
	for _, chain := range [][]int{{9, 1}, {9, 7, 1}} {
		rig.Check(t, isOrphan(chain, name), "%v", chain)
	}
	for _, chain := range [][]int{{9, 8, 1}, {9, 8, 7, 1}, {9}} {
		rig.Check(t, !isOrphan(chain, name), "%v", chain)
	}
	rig.Check(t, isBelow(local.New(), child, filepath.Base(this)), "its parent is this program")
	rig.Check(t, !isBelow(local.New(), child, "nbs-worker"), "no program of ours is above it")
	rig.Check(t, !isBelow(local.New(), os.Getpid(), filepath.Base(this)), "a process does not run itself")
}
