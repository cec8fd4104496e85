package spool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
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
	old := time.Now().Add(-2 * time.Minute)
	rig.Must(t, os.Chtimes(filepath.Join(s.Path(), ".half"), old, old))
	rig.Equal(t, len(s.listed(t)), 1, "announcements")
	rig.Equal(t, len(storetest.Names(t, s.Path())), 1, "files: whose writer was killed, its half is gone")
}

// What stands in the place of the folder is named, with a command that moves it away; then all goes on.
func TestPlantedInPlaceOfTheFolder(t *testing.T) {
	t.Parallel()
	for what, plant := range map[string]func(at string) error{
		"link":           func(at string) error { return os.Symlink(t.TempDir(), at) },
		"link to .nbs":   func(at string) error { return os.Symlink("..", at) },
		"link to no-one": func(at string) error { return os.Symlink("/nowhere", at) },
		"FIFO":           func(at string) error { return syscall.Mkfifo(at, 0o600) },
	} {
		for _, at := range []func(Spool) string{Spool.Path, func(s Spool) string { return filepath.Dir(s.Path()) }} {
			s := newSpool(t)
			rig.Must(t, os.MkdirAll(filepath.Dir(at(s)), 0o700))
			rig.Must(t, plant(at(s)))
			_, err := s.List()
			rig.Check(t, err != nil && strings.Contains(err.Error(), "is not a folder") && len(fail.HintsOf(err)) == 1, "%s: list: %v, hints %q", what, err, fail.HintsOf(err))
			rig.Check(t, s.Put(Announcement{Handle: "alpha"}) != nil, "%s: it was put there", what)
			_, command, _ := strings.Cut(fail.HintsOf(err)[0], ": ")
			rig.Must(t, exec.Command("sh", "-c", command).Run())
			rig.Must(t, s.Put(Announcement{Handle: "alpha"}))
			rig.Equal(t, len(s.listed(t)), 1, "announcements after what was planted was moved away")
		}
	}
}

// Where nobody reads, the spool does not grow without end.
func TestMost(t *testing.T) {
	t.Parallel()
	s := newSpool(t)
	for i := range most + 5 {
		rig.Must(t, s.Put(Announcement{Handle: "alpha", At: time.Unix(int64(i), 0)}))
	}
	rig.Equal(t, len(s.listed(t)), most, "announcements")
}

func pid() string { return strconv.Itoa(os.Getpid()) }
