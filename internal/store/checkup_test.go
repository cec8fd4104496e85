package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
)

func opened(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Create(t.TempDir())
	rig.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestFlockIsProvenAndLeavesNothing(t *testing.T) {
	t.Parallel()
	s := opened(t)
	rig.Must(t, s.ProveFlock())
	left, err := os.ReadDir(s.Folder())
	rig.Check(t, err == nil && len(left) == 0, "%v, %v", left, err)
}

func TestDiskIsNamed(t *testing.T) {
	t.Parallel()
	kind, err := opened(t).DiskType()
	rig.Check(t, err == nil && kind != "", "%q, %v", kind, err)
}

// The signature of a verb that is at work stays, though somebody took it for stale.
func TestSignatureOfAHeldLockStays(t *testing.T) {
	t.Parallel()
	s := opened(t)
	unlock, err := s.LockVerb("alpha", "stop", time.Now())
	rig.Must(t, err)
	signed := s.Signatures()
	if len(signed) != 1 || signed[0].Holder.PID != os.Getpid() || signed[0].Name != "alpha.verb" {
		t.Fatalf("%+v", signed)
	}
	if wiped, err := s.WipeSignature(signed[0]); wiped || err != nil {
		t.Errorf("%t, %v", wiped, err)
	}
	text, err := os.ReadFile(filepath.Join(s.Folder(), "locks", "alpha.verb"))
	rig.Check(t, err == nil && len(text) != 0, "%q, %v", text, err)
	unlock()
	wiped, err := s.WipeSignature(signed[0])
	rig.Check(t, !wiped && err == nil, "one that its holder wiped: %t, %v", wiped, err)
}
