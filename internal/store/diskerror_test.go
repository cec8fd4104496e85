package store

import (
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// The disk refuses one system call of a write. The old stays, or the new is there and
// the message says what it is worth; nothing half done is left.

func TestDiskErrorKeepsTheOldRecord(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		call, how string
		n         int
		says      string
	}{
		"write the file":     {"write", "error=ENOSPC", 1, "no space left on device"},
		"over quota":         {"write", "error=EDQUOT", 1, "disk quota exceeded"},
		"sync the file":      {"fsync", "error=EIO", 1, "input/output error"},
		"rename the file":    {"renameat", "error=EIO", 1, "input/output error"},
		"no room for a name": {"renameat", "error=ENOSPC", 1, "no space left on device"},
		"no locks here":      {"flock", "error=ENOLCK", 1, "lock .nbs/locks/alice.record: no locks available"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStoreWith(t, "alice")
			before := storetest.Read(t, path(s, sessions, "alice.json"))
			out, end := rig.Tampered(t, rig.Command("update", s.Project()), c.call, c.how, c.n)
			rig.Check(t, end.ExitStatus() == 1 && strings.Contains(out, c.says), "exit code %d: %s; want %q", end.ExitStatus(), out, c.says)
			storetest.WantText(t, path(s, sessions, "alice.json"), before)
			storetest.WantNames(t, path(s, sessions), "alice.json")
		})
	}
}

// After the rename the new record is what everybody reads: it is not rolled back, and
// the caller learns that a power cut may take it.
func TestFailedSyncOfTheFolderIsSaid(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	out, end := rig.Tampered(t, rig.Command("update", s.Project()), "fsync", "error=EIO", 2)
	rig.Check(t, end.ExitStatus() == 1 && strings.Contains(out, "sessions/alice.json is written, but may not survive a power cut: "), "exit code %d: %s", end.ExitStatus(), out)
	r, err := s.Load("alice")
	rig.Check(t, err == nil && r.PID == newPID, "%+v, %v; want the new record", r, err)
	out, end = rig.Tampered(t, rig.Command("put-message", s.Project()), "fsync", "error=EIO", 2)
	rig.Check(t, end.ExitStatus() == 1 && strings.Contains(out, ".md is written, but may not survive a power cut: "), "a message: exit code %d: %s", end.ExitStatus(), out)
}

func TestDiskErrorOfANewRecord(t *testing.T) {
	t.Parallel()
	for n, written := range []bool{false, true, true, true} { // the file, sessions, .nbs, the project's folder
		s := newStore(t)
		out, end := rig.Tampered(t, rig.Command("insert", s.Project()), "fsync", "error=EIO", n+1)
		rig.Check(t, end.ExitStatus() == 1, "fsync %d: exit code %d: %s", n+1, end.ExitStatus(), out)
		_, err := s.Load("bob")
		rig.Check(t, (err == nil) == written, "fsync %d: %v", n+1, err)
	}
}

func TestDiskErrorLeavesNoSecret(t *testing.T) {
	t.Parallel()
	for call, how := range map[string]string{"write": "error=ENOSPC", "renameat": "error=EIO"} {
		s := newStore(t)
		out, end := rig.Tampered(t, rig.Command("put-launch", s.Project()), call, how, 1)
		got := storetest.Names(t, string(s.launches()))
		rig.Check(t, end.ExitStatus() == 1 && len(got) == 0, "%s: exit code %d: %s; left are %v", call, end.ExitStatus(), out, got)
	}
}

func TestFullDiskHasARemedy(t *testing.T) {
	t.Parallel()
	project := rig.ShortDir(t)
	rig.PrivateMounts(t).Tmpfs(project, "64k")
	// Another process: the mount is seen by this thread only, and the store may use several.
	out, err := rig.Command("large-insert", project).CombinedOutput()
	want := "no space left on device\n[make room there, then repeat the command: df -h '" + project + "/.nbs']\n"
	rig.Check(t, err != nil && strings.Contains(string(out), want), "%v: %q; want %q", err, out, want)
	storetest.WantNames(t, filepath.Join(project, ".nbs", sessions))
}
