package local

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
	_, err := readOOMKills(path)
	rig.Check(t, err == nil || group == "/", "%s cannot be read: %v", path, err)
}

func TestReadOOMKills(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memory.events.local")
	rig.Must(t, os.WriteFile(path, fmt.Appendf(nil, "low 0\noom 7\noom_kill %d\noom_group_kill 0\n", 3), 0o600))
	kills, err := readOOMKills(path)
	rig.Check(t, err == nil && kills == 3, "%d kills, %v", kills, err)
	_, err = readOOMKills("")
	rig.Check(t, err != nil, "nothing has a counter")
}
