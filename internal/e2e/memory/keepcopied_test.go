package memory

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/e2e"
)

// Where no second name can be had there is a copy of the conversation.

// On another file system there is a copy. It is brought up to date at each end.
func TestTranscriptIsCopiedAcrossFileSystems(t *testing.T) {
	m := standIn(t)
	m.StateOnADiskOfItsOwn("64m")
	before := m.Remembers("alpha")
	if sameFile(t, m.KeptPath(before.SessionID), before.Transcript.Path) {
		t.Fatal("it is one file system")
	}
	m.TypeLine(before, "Remember 43.")
	m.MustAnswer("alpha", "OK, I will remember 43.")
	m.OK("stop", "alpha")
	ours, theirs := e2e.Read(t, m.KeptPath(before.SessionID)), e2e.Read(t, before.Transcript.Path)
	m.Check(ours == theirs, "%d of %d bytes are kept", len(ours), len(theirs))
	m.Must(os.RemoveAll(filepath.Dir(before.Transcript.Path)))
	m.OK("resume", "alpha", "--prompt", "What number?")
	m.MustAnswer("alpha", "43")
	m.MustBeInTheJournal("restored", "alpha", before.SessionID)
}
