package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestKeepTranscriptIsALink(t *testing.T) {
	t.Parallel()
	s := withTranscript(t, said)
	rig.Equal(t, freshness(t, s), NotKept, "before it is kept")
	mustKeep(t, s)
	mustKeep(t, s)
	appendTo(t, original(s), "three\n")
	mustHold(t, s, said+"three\n")
	f := freshness(t, s)
	rig.Check(t, f == Linked && s.HasLink(aliceID), "kept: %s", f)
	storetest.WantNames(t, keptAt(s), originFile(aliceID), transcriptFile(aliceID))
	rig.Must(t, os.Remove(original(s)))
	kept, err := s.Kept(aliceID)
	rig.Must(t, err)
	rig.Check(t, len(kept) == 1 && kept[0].HasLeft(), "%+v", kept)
	f = freshness(t, s)
	rig.Check(t, f == OnlyCopy && !s.HasLink(aliceID), "kept: %s", f)
}

// What takes the original's place is kept too; what it does not go on from stays besides.
func TestReplacedTranscriptLosesNothing(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		after string
		want  []string
	}{
		"it goes on":               {said + "three\n", []string{said + "three\n"}},
		"it is the same":           {said, []string{said}},
		"it is a mere beginning":   {"one\n", []string{said}},
		"it is cut in a line":      {"one\ntw", []string{said}},
		"it is shorter":            {"uno\n", []string{"uno\n", said}},
		"it is longer and another": {"uno\ndos\ntres\n", []string{"uno\ndos\ntres\n", said}},
		"it is empty":              {"", []string{said}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := withTranscript(t, said)
			mustKeep(t, s)
			putOriginal(t, s, c.after)
			mustKeep(t, s)
			mustKeep(t, s)
			mustHold(t, s, c.want[0], c.want[1:]...)
			rig.Must(t, s.Remove(aliceID))
			storetest.WantNames(t, keptAt(s))
		})
	}
}

// Of what was set aside a person may move one away, as the remedy for transcripts that went apart says.
func TestWhatIsKeptBehindAGapIsSeen(t *testing.T) {
	t.Parallel()
	s := withTranscript(t, said)
	mustKeep(t, s)
	for _, text := range []string{"uno\n", "eins\nzwei\n"} {
		putOriginal(t, s, text)
		mustKeep(t, s)
	}
	first := s.kept.Path(asideFile(aliceID, 1))
	rig.Must(t, os.Rename(first, first+".other"))
	mustHold(t, s, "eins\nzwei\n", "uno\n")
	far := s.kept.Path(asideFile(aliceID, asideLimit))
	rig.Must(t, os.Link(first+".other", far))
	all, err := s.Kept(aliceID)
	rig.Must(t, err)
	rig.Check(t, slices.ContainsFunc(all, func(k Kept) bool { return k.Path == far }), "%+v", all)
	rig.Must(t, s.Remove(aliceID))
	storetest.WantNames(t, keptAt(s), filepath.Base(first)+".other")
}

// Across file systems there is a copy: as old as the original was, and only the rest of it
// is copied later.
func TestKeepTranscriptAcrossFileSystems(t *testing.T) {
	t.Parallel()
	s := newArchive(t)
	rig.PrivateMounts(t).Tmpfs(filepath.Dir(originals(s)), "1m")
	putOriginal(t, s, said)
	past := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	rig.Must(t, os.Chtimes(original(s), past, past))
	mustKeep(t, s)
	mustHold(t, s, said)
	kept, err := os.Stat(filepath.Join(keptAt(s), transcriptFile(aliceID)))
	rig.Check(t, err == nil && kept.ModTime().Equal(past) && kept.Mode().Perm() == 0o600 && freshness(t, s) == CopyFresh, "%v, %v, %s", kept, err, freshness(t, s))
	appendTo(t, original(s), "three\n")
	rig.Equal(t, freshness(t, s), CopyStale, "an old copy counts as")
	mustKeep(t, s)
	mustHold(t, s, said+"three\n")
	rig.Equal(t, freshness(t, s), CopyFresh, "kept")
	putOriginal(t, s, "another\n")
	mustKeep(t, s)
	mustHold(t, s, "another\n", said+"three\n")
	rig.Must(t, os.Remove(original(s)))
	mustRestore(t, s)
	storetest.WantText(t, original(s), "another\n")
}

func TestRestoreTranscriptNeverOverwrites(t *testing.T) {
	t.Parallel()
	s := withTranscript(t, said)
	old := time.Now().Add(-50 * 24 * time.Hour)
	rig.Must(t, errors.Join(os.Chtimes(original(s), old, old), os.Chmod(original(s), 0o644)))
	mustKeep(t, s)
	kept, err := s.Kept(aliceID)
	rig.Must(t, err)
	err = s.Restore(kept[0], original(s))
	rig.Check(t, errors.Is(err, fs.ErrExist), "over the original: %v", err)
	putOriginal(t, s, "")
	err = s.Restore(kept[0], original(s))
	rig.Check(t, errors.Is(err, fs.ErrExist) && storetest.Read(t, original(s)) == "", "over an empty one: %v", err)
	rig.Must(t, os.Remove(original(s)))
	mustRestore(t, s)
	info, err := os.Stat(original(s))
	rig.Check(t, err == nil && storetest.Read(t, original(s)) == said && info.Mode().Perm() == 0o600 && time.Since(info.ModTime()) <= time.Hour, "%v, %v", info, err)
}

func TestManyKeepATranscriptAtOnce(t *testing.T) {
	t.Parallel()
	s := withTranscript(t, said)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			err := s.Keep(t.Context(), aliceID, original(s))
			rig.Check(t, err == nil, "%v", err)
		})
	}
	all.Wait()
	mustHold(t, s, said)
	got := storetest.Names(t, keptAt(s))
	rig.Check(t, len(got) == 2, "there are %v", got)
}
