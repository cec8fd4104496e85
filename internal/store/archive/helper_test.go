package archive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
)

const (
	aliceID = storetest.AliceID
	otherID = storetest.OtherID
)

func TestMain(m *testing.M) {
	os.Exit(storetest.Main(m, func(role []string) { playRole(role[0], role[1]) }))
}

// playRole makes the test binary another nbs-worker: "keep" keeps alice's transcript, "restore"
// puts it back.
func playRole(role, project string) {
	runtime.LockOSThread() // strace counts the calls of each thread
	s := openAt(project)
	var err error
	switch role {
	case "keep":
		err = s.Keep(context.Background(), aliceID, original(s))
	case "restore":
		err = restoreOnce(s)
	}
	if err != nil {
		fmt.Println(err)
		fmt.Println(fail.HintsOf(err))
		os.Exit(1)
	}
}

func restoreOnce(s *Archive) error {
	kept, err := s.Kept(aliceID)
	if err != nil {
		return err
	}
	return s.Restore(kept[0], original(s))
}

// openAt is the archive beside a project.
func openAt(project string) *Archive { return In(private.Tree(project + homeSuffix + "/transcripts")) }

const homeSuffix = ".home"

func newArchive(t *testing.T) *Archive {
	t.Helper()
	return openAt(storetest.MemoryProject(t))
}

// projectOf is the folder that the archive is beside.
func projectOf(s *Archive) string { return strings.TrimSuffix(filepath.Dir(keptAt(s)), homeSuffix) }

// keptAt is the folder of what is kept.
func keptAt(s *Archive) string { return string(s.kept) }

// originals is where the tests have the folder of Claude's transcripts.
func originals(s *Archive) string { return filepath.Join(projectOf(s), "projects", "-srv-project") }

func original(s *Archive) string { return filepath.Join(originals(s), transcriptFile(aliceID)) }

const said = "one\ntwo\n"

// withTranscript is a store, and a transcript beside it.
func withTranscript(t *testing.T, text string) *Archive {
	t.Helper()
	s := newArchive(t)
	putOriginal(t, s, text)
	return s
}

func putOriginal(t *testing.T, s *Archive, text string) {
	t.Helper()
	rig.Must(t, os.MkdirAll(originals(s), 0o700))
	_ = os.Remove(original(s))
	storetest.Write(t, original(s), text)
}

func mustKeep(t *testing.T, s *Archive) {
	t.Helper()
	rig.Must(t, s.Keep(t.Context(), aliceID, original(s)))
}

func mustHold(t *testing.T, s *Archive, want string, aside ...string) {
	t.Helper()
	kept, err := s.Kept(aliceID)
	if err != nil || len(kept) != 1+len(aside) {
		t.Fatalf("kept are %+v, %v", kept, err)
	}
	for i, text := range append([]string{want}, aside...) {
		got := storetest.Read(t, kept[i].Path)
		rig.Check(t, got == text && kept[i].Folder == "-srv-project", "%+v holds %q; want %q", kept[i], got, text)
	}
}

func freshness(t *testing.T, s *Archive) Freshness {
	t.Helper()
	f, err := s.Freshness(aliceID, original(s))
	rig.Must(t, err)
	return f
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	storetest.Write(t, path, storetest.Read(t, path)+text)
}

func mustRestore(t *testing.T, s *Archive) {
	t.Helper()
	kept, err := s.Kept(aliceID)
	if err != nil || len(kept) == 0 {
		t.Fatal(kept, err)
	}
	rig.Must(t, s.Restore(kept[0], original(s)))
}
