package spool

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
)

func newSpool(t *testing.T) Spool {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".nbs")
	rig.Must(t, os.Mkdir(path, 0o700))
	nbs, err := private.OpenFolder(path)
	rig.Must(t, err)
	t.Cleanup(func() { _ = nbs.Close() })
	return In(nbs, private.Tree(filepath.Join(t.TempDir(), "observer")))
}

func (s Spool) listed(t *testing.T) []Announcement {
	t.Helper()
	all, err := s.List()
	rig.Must(t, err)
	return all
}

// What hooks announce is read in its order, and is there until it is taken.
func TestAnnouncements(t *testing.T) {
	t.Parallel()
	s := newSpool(t)
	rig.Equal(t, len(s.listed(t)), 0, "announcements before the first")
	at := time.Date(2026, 2, 20, 11, 44, 7, 5, time.UTC)
	for i := range 3 {
		rig.Must(t, s.Put(Announcement{Handle: "alpha", Invocation: "i", SessionID: agent.SessionID("s"), Size: int64(i), At: at.Add(time.Duration(i))}))
	}
	info, err := os.Stat(filepath.Join(s.Path(), "01771587847000000005-"+pid()+".json"))
	rig.Must(t, err)
	rig.Equal(t, info.Mode(), os.FileMode(0o600), "mode")
	all := s.listed(t)
	rig.Check(t, len(all) == 3 && all[0].Size == 0 && all[2].Size == 2 && all[1].Handle == "alpha" && all[1].At.Equal(at.Add(1)), "%+v", all)
	rig.Must(t, s.Take(all[:2]...))
	rig.Must(t, s.Take(all[:2]...)) // by two at once
	rig.Equal(t, len(s.listed(t)), 1, "announcements after two were taken")
}

// What was planted there, or cut short, is in nobody's way.
func TestWhatIsNoAnnouncementIsRemoved(t *testing.T) {
	t.Parallel()
	s := newSpool(t)
	rig.Must(t, s.Put(Announcement{Handle: "alpha", At: time.Unix(1, 0)}))
	storetest.Write(t, filepath.Join(s.Path(), "0.json"), "{")
	storetest.Write(t, filepath.Join(s.Path(), ".half"), "{")
	rig.Must(t, os.Mkdir(filepath.Join(s.Path(), "folder"), 0o700))
	rig.Must(t, os.Symlink("/etc/passwd", filepath.Join(s.Path(), "link")))
	rig.Equal(t, len(s.listed(t)), 1, "announcements")
	rig.Equal(t, len(storetest.Names(t, s.Path())), 2, "files: the whole one, and one that is being written")
}

// Where nobody reads, the spool does not grow without end.
func TestMost(t *testing.T) {
	t.Parallel()
	s := newSpool(t)
	for i := range Most + 5 {
		rig.Must(t, s.Put(Announcement{Handle: "alpha", At: time.Unix(int64(i), 0)}))
	}
	rig.Equal(t, len(s.listed(t)), Most, "announcements")
}

func pid() string { return strconv.Itoa(os.Getpid()) }
