package archive

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// linkCalls are the calls by which a transcript is kept, besides those of all files.
var linkCalls = []string{"linkat", "renameat2", "utimensat", "copy_file_range", "ioctl"}

// killTranscript kills a role before each of its system calls; the next look makes all well.
func killTranscript(t *testing.T, role string, begin func(s *Archive), check func(s *Archive)) {
	t.Helper()
	points := rig.EachKill(t, slices.Concat(rig.FileCalls, linkCalls), func() (*exec.Cmd, func(bool)) {
		s := newArchive(t)
		begin(s)
		return rig.Command(role, projectOf(s)), func(bool) {
			check(s)
			for _, name := range storetest.Names(t, keptAt(s)) {
				rig.Check(t, !strings.HasPrefix(name, "."), "left is %s", name)
			}
		}
	})
	rig.Check(t, points >= 10, "only %d points", points)
}

func TestKilledKeepLosesNothing(t *testing.T) {
	t.Parallel()
	killTranscript(t, "keep", func(s *Archive) { putOriginal(t, s, said) }, func(s *Archive) {
		mustKeep(t, s)
		mustHold(t, s, said)
	})
}

// Killed while one transcript takes the place of another, it leaves both.
func TestKilledKeepOfAReplacedTranscriptLosesNothing(t *testing.T) {
	t.Parallel()
	killTranscript(t, "keep", func(s *Archive) {
		putOriginal(t, s, said)
		mustKeep(t, s)
		putOriginal(t, s, "another\n")
	}, func(s *Archive) {
		kept, err := s.Kept(aliceID)
		rig.Check(t, err == nil && slices.ContainsFunc(kept, func(k Kept) bool { return storetest.Read(t, k.Path) == said }), "%+v, %v", kept, err)
		mustKeep(t, s)
		mustHold(t, s, "another\n", said)
	})
}

func TestKilledCopyIsNeverTakenForTheWhole(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "one\n"} {
		mounts := rig.PrivateMounts(t)
		killTranscript(t, "keep", func(s *Archive) {
			mounts.Tmpfs(filepath.Dir(originals(s)), "1m")
			putOriginal(t, s, said)
			if before != "" {
				storetest.Write(t, original(s), before)
				mustKeep(t, s)
				storetest.Write(t, original(s), said)
			}
		}, func(s *Archive) {
			kept, err := s.Kept(aliceID)
			rig.Check(t, err == nil, "%v", err)
			for _, k := range kept {
				if got := storetest.Read(t, k.Path); !strings.HasPrefix(said, got) || freshness(t, s) == CopyFresh && got != said {
					t.Errorf("%q counts as %s", got, freshness(t, s))
				}
			}
			mustKeep(t, s)
			mustHold(t, s, said)
			mounts.Unmount(filepath.Dir(originals(s)))
		})
	}
}

func TestKilledRestoreLosesNothing(t *testing.T) {
	t.Parallel()
	for what, mount := range map[string]func(s *Archive) (unmount func()){
		"by link": func(*Archive) func() { return func() {} },
		"by copy": func(s *Archive) func() {
			mounts := rig.PrivateMounts(t)
			mounts.Tmpfs(filepath.Dir(originals(s)), "1m")
			return func() { mounts.Unmount(filepath.Dir(originals(s))) }
		},
	} {
		unmount := func() {}
		killTranscript(t, "restore", func(s *Archive) {
			unmount = mount(s)
			putOriginal(t, s, said)
			mustKeep(t, s)
			rig.Must(t, os.Remove(original(s)))
		}, func(s *Archive) {
			mustHold(t, s, said)
			if _, err := os.Lstat(original(s)); err != nil {
				mustRestore(t, s)
			}
			rig.Check(t, storetest.Read(t, original(s)) == said, "%s: put back is %q", what, storetest.Read(t, original(s)))
			unmount()
		})
	}
}

// A disk that takes nothing more leaves the copy as it was, and as old as it was.
func TestDiskErrorKeepsTheOldCopy(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "one\n"} {
		s := newArchive(t)
		mounts := rig.PrivateMounts(t)
		mounts.Tmpfs(filepath.Dir(originals(s)), "1m")
		want := NotKept
		if before != "" {
			putOriginal(t, s, before)
			mustKeep(t, s)
			want = CopyStale
		}
		putOriginal(t, s, said)
		const nth = 2 // the first is of the origin
		out, end := rig.Tampered(t, rig.Command("keep", projectOf(s)), "write", "error=ENOSPC", nth)
		rig.Check(t, end.ExitStatus() == 1 && strings.Contains(out, "no space left on device") && strings.Contains(out, "make room there"), "exit code %d: %s", end.ExitStatus(), out)
		kept, err := s.Kept(aliceID)
		if err != nil || before == "" && len(kept) > 0 || before != "" && storetest.Read(t, kept[0].Path) != before || freshness(t, s) != want {
			t.Errorf("%+v, %v, %s", kept, err, freshness(t, s))
		}
		mustKeep(t, s)
		mustHold(t, s, said)
	}
}
