package archive

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// putInProject leaves transcripts in .nbs, as earlier versions did, or a clone does.
func putInProject(t *testing.T, s *Archive, texts ...string) {
	t.Helper()
	storetest.Must(s.project.Make())
	from, err := json.Marshal(origin{Folder: "-srv-project", Path: original(s)})
	storetest.Must(err)
	storetest.Write(t, s.project.Path(originFile(aliceID)), string(from))
	storetest.Write(t, s.project.Path(transcriptFile(aliceID)), texts[0])
	for i, text := range texts[1:] {
		storetest.Write(t, s.project.Path(asideFile(aliceID, i+1)), text)
	}
}

func mustTakeOver(t *testing.T, s *Archive, n int) {
	t.Helper()
	taken, err := s.TakeOver(t.Context(), otherID, aliceID)
	rig.Check(t, err == nil && len(taken) == n, "taken are %+v, %v; want %d", taken, err, n)
}

// What lies in the project counts for nothing, until the user has said that it is theirs.
func TestTranscriptInTheProjectIsNotKept(t *testing.T) {
	t.Parallel()
	s := newArchive(t)
	storetest.Must(os.MkdirAll(originals(s), 0o700))
	putInProject(t, s, said)
	if kept, err := s.Kept(aliceID); err != nil || len(kept) > 0 {
		t.Errorf("%+v, %v", kept, err)
	}
	planted, err := s.InProject(aliceID)
	if err != nil || len(planted) != 1 || planted[0].Path != s.nbs.Path(OldFolder, transcriptFile(aliceID)) || !s.HasInProject() {
		t.Fatalf("%+v, %v", planted, err)
	}
	if err := s.Restore(planted[0], original(s)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was put back: %v", err)
	}
	rig.Equal(t, freshness(t, s), NotKept, "kept")
	mustTakeOver(t, s, 1)
	mustHold(t, s, said)
	rig.Equal(t, freshness(t, s), OnlyCopy, "kept")
	mustRestore(t, s)
	_, err = os.Lstat(s.nbs.Path(OldFolder))
	rig.Check(t, errors.Is(err, fs.ErrNotExist) && !s.HasInProject(), "something stays in the project: %v", err)
	mustTakeOver(t, s, 0)
}

// What was remembered of a transcript that was lost with all that was kept of it is no witness
// against the one that the user takes over.
func TestTakeOverBeginsTheMarkAnew(t *testing.T) {
	t.Parallel()
	s := withTranscript(t, said)
	mustKeep(t, s)
	for _, lost := range []string{original(s), s.kept.Path(transcriptFile(aliceID))} {
		storetest.Must(os.Remove(lost))
	}
	putInProject(t, s, "uno\ndos\n")
	mustTakeOver(t, s, 1)
	mustRestore(t, s)
	cut, err := s.CutOff(aliceID, original(s))
	rig.Check(t, err == nil && cut == nil, "%+v, %v", cut, err)
}

// What the archive has stays what a resume puts back, unless the other goes on where it ends.
func TestTakeOverLosesNothing(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		inProject []string
		want      []string
	}{
		"it is the same":         {[]string{said}, []string{said}},
		"it is a mere beginning": {[]string{"one\n"}, []string{said}},
		"it goes on":             {[]string{said + "three\n"}, []string{said + "three\n"}},
		"it went another way":    {[]string{"uno\n"}, []string{said, "uno\n"}},
		"so did what is aside":   {[]string{said, "one\ndos\n"}, []string{said, "one\ndos\n"}},
		"both did":               {[]string{"uno\n", "dos\ntres\n"}, []string{said, "dos\ntres\n", "uno\n"}},
	} {
		s := withTranscript(t, said)
		mustKeep(t, s)
		putInProject(t, s, c.inProject...)
		mustTakeOver(t, s, len(c.inProject))
		t.Log(what)
		mustHold(t, s, c.want[0], c.want[1:]...)
	}
}

// Of a link that somebody planted nothing is taken.
func TestTakeOverFollowsNoLink(t *testing.T) {
	t.Parallel()
	s := newArchive(t)
	storetest.Must(s.project.Make())
	storetest.Plant(t, s.nbs.Path(OldFolder, transcriptFile(aliceID)))
	if taken, err := s.TakeOver(t.Context(), aliceID); err == nil {
		t.Errorf("taken are %+v", taken)
	}
	s = newArchive(t)
	outside := filepath.Join(t.TempDir(), "outside")
	storetest.Must(os.Mkdir(outside, 0o700))
	storetest.Write(t, filepath.Join(outside, transcriptFile(aliceID)), said)
	storetest.Must(os.Symlink(outside, s.nbs.Path(OldFolder)))
	_, err := s.TakeOver(t.Context(), aliceID)
	storetest.WantKind(t, "a folder that leads out", err, agent.BadInput)
}
