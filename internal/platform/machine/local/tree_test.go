package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/sim/rig"
)

func pidsOf(ids []agent.Identity) []int {
	pids := make([]int, len(ids))
	for i, id := range ids {
		pids[i] = id.PID
	}
	return pids
}

func TestDescendantsAreFoundParentsFirst(t *testing.T) {
	t.Parallel()
	c := rig.StartChild(t, rig.Command("parent", "parent", "stay"))
	chain := []int{c.Said(), c.Said(), c.Said()}
	slices.SortFunc(chain, byGeneration(t))
	if chain[0] != c.Process.Pid {
		t.Fatalf("the chain %v does not begin with %d", chain, c.Process.Pid)
	}
	found, err := here.Descendants(c.Process.Pid)
	rig.Must(t, err)
	diff := cmp.Diff(chain[1:], pidsOf(found))
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
	for _, id := range found {
		wantLiveness(t, id, machine.Alive)
	}
	if below, err := here.Descendants(chain[2]); err != nil || len(below) != 0 {
		t.Errorf("the last of the chain has descendants: %v, %v", below, err)
	}
}

// byGeneration sorts a parent before its child.
func byGeneration(t *testing.T) func(a, b int) int {
	depth := func(pid int) (n int) {
		for ; pid > 1; n++ {
			stat, err := kernel{}.Stat(pid)
			rig.Must(t, err)
			pid = stat.Parent
		}
		return n
	}
	return func(a, b int) int { return depth(a) - depth(b) }
}

func TestAncestorsBeginHere(t *testing.T) {
	t.Parallel()
	chain := here.Ancestors()
	if len(chain) < 2 || chain[0] != os.Getpid() || chain[1] != os.Getppid() {
		t.Errorf("Ancestors() = %v; want %d, %d, ...", chain, os.Getpid(), os.Getppid())
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(chain)))
	rig.Check(t, len(sorted) == len(chain), "Ancestors() = %v; want each once", chain)
}

// A child has what its parent has open until it runs its own program. A program that starts commands while it has a file
// open is told nothing of that.
func TestChildThatIsStartingUsesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "a"))
	rig.Must(t, err)
	defer file.Close()
	ctx, enough := context.WithCancel(t.Context())
	var starters sync.WaitGroup
	for range 4 {
		starters.Go(func() {
			for ctx.Err() == nil {
				_ = exec.CommandContext(ctx, "true").Run()
			}
		})
	}
	for range 100 {
		found, err := here.In(t.Context(), dir)
		rig.Check(t, err == nil && len(found) == 0, "%+v, %v", found, err)
	}
	enough()
	starters.Wait()
}

// A child that runs its program with a file of the folder uses it.
func TestChildWithAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "a"))
	rig.Must(t, err)
	cmd := exec.Command("cat")
	cmd.Stdout = file
	child := rig.StartChild(t, cmd)
	rig.Must(t, file.Close())
	found, err := here.In(t.Context(), dir)
	rig.Check(t, err == nil && len(found) == 1 && found[0].PID == child.Process.Pid && found[0].File == file.Name(), "%+v, %v", found, err)
}
