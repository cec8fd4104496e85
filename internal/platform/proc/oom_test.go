package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// What the kernel has of this very process can be read here, or there is no memory cgroup.
func TestOOMCounterOfThisMachine(t *testing.T) {
	t.Parallel()
	group, _ := memoryCgroup(os.Getpid())
	if group == "" {
		t.Fatal("the kernel names no cgroup of this process")
	}
	path := oomFile(os.Getpid())
	if path == "" {
		t.Fatalf("no counter for cgroup %s", group)
	}
	_, known := readOOMKills(path)
	rig.Check(t, known || group == "/", "%s cannot be read", path)
}

func TestKillsSinceTheStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.events.local")
	set := func(kills int) {
		rig.Must(t, os.WriteFile(path, fmt.Appendf(nil, "low 0\noom 7\noom_kill %d\noom_group_kill 0\n", kills), 0o600))
	}
	watch := MemoryWatch{counter: path, before: 3}
	for now, want := range map[int]uint64{3: 0, 5: 2, 1: 0} {
		set(now)
		got := watch.Kills()
		rig.Check(t, got == want, "%d: %d kills; want %d", now, got, want)
	}
	got := (MemoryWatch{}).Kills()
	rig.Check(t, got == 0, "of nothing: %d kills", got)
}
