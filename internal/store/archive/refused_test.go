package archive

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// Nothing is kept but a regular file of this user under the conversation's own name.
func TestKeepTranscriptRefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	s := withTranscript(t, said)
	outside := filepath.Join(t.TempDir(), "secret")
	storetest.Write(t, outside, "secret")
	for what, plant := range map[string]func(at string) error{
		"a link":   func(at string) error { return os.Symlink(outside, at) },
		"a FIFO":   func(at string) error { return syscall.Mkfifo(at, 0o600) },
		"a socket": func(at string) error { return syscall.Mknod(at, syscall.S_IFSOCK|0o600, 0) },
		"a folder": func(at string) error { return os.Mkdir(at, 0o700) },
		"nothing":  func(string) error { return nil },
	} {
		_ = os.Remove(original(s))
		rig.Must(t, plant(original(s)))
		err := s.Keep(t.Context(), aliceID, original(s))
		rig.Check(t, err != nil, "%s was kept", what)
	}
	for _, c := range []struct {
		id   agent.SessionID
		path string
	}{
		{"../../x", "/srv/../../x.jsonl"},
		{aliceID, outside},
		{aliceID, "projects/" + transcriptFile(aliceID)},
		{aliceID, filepath.Join(originals(s), transcriptFile(otherID))},
	} {
		storetest.WantKind(t, c.path, s.Keep(t.Context(), c.id, c.path), fail.BadInput)
	}
	storetest.WantNames(t, keptAt(s))
}

func TestTranscriptOfAnotherUserIsNotKept(t *testing.T) {
	t.Parallel()
	rig.NeedsRoot(t)
	s := withTranscript(t, said)
	rig.Must(t, os.Chown(original(s), rig.Nobody, -1))
	storetest.WantKind(t, "keep", s.Keep(t.Context(), aliceID, original(s)), fail.BadInput)
}

// What stands in the place of ours is neither written through nor put back.
func TestPlantedTranscriptsAreRefused(t *testing.T) {
	t.Parallel()
	s := withTranscript(t, said)
	mustKeep(t, s)
	kept, err := s.Kept(aliceID)
	rig.Must(t, err)
	storetest.Plant(t, s.kept.Path(transcriptFile(aliceID)))
	storetest.Plant(t, s.kept.Path("."+transcriptFile(aliceID)))
	if err := s.Keep(t.Context(), aliceID, original(s)); err == nil {
		t.Error("a link was taken for ours")
	}
	_ = os.Remove(original(s))
	if err := s.Restore(kept[0], original(s)); err == nil {
		t.Error("the target of a link was put back")
	}
	_, err = s.Kept(aliceID)
	rig.Check(t, err != nil, "a link is listed")
	// A planted temporary name is replaced, a planted origin is not believed.
	s = withTranscript(t, said)
	storetest.Must(s.kept.Make())
	storetest.Plant(t, s.kept.Path("."+transcriptFile(aliceID)))
	mustKeep(t, s)
	mustHold(t, s, said)
	for _, text := range []string{`{"folder":"../../etc"}`, `{"folder":".."}`, `{"folder":"a/b"}`, `{"folder":`, strings.Repeat("x", 2*originLimit)} {
		storetest.Write(t, filepath.Join(keptAt(s), originFile(aliceID)), text)
		folder := s.originOf(aliceID)
		rig.Check(t, folder.Folder == "", "%.40q leads to %q", text, folder.Folder)
	}
}
