package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Where no second name can be had there is a copy of the conversation.

// On another file system there is a copy. It is brought up to date at each end.
func TestTranscriptIsCopiedAcrossFileSystems(t *testing.T) {
	m := standIn(t)
	m.stateOnADiskOfItsOwn("64m")
	before := m.remembers("alpha")
	if sameFile(t, m.keptPath(before.SessionID), before.Transcript.Path) {
		t.Fatal("it is one file system")
	}
	m.typeLine(before, "Remember 43.")
	m.mustAnswer("alpha", "OK, I will remember 43.")
	m.ok("stop", "alpha")
	ours, theirs := read(t, m.keptPath(before.SessionID)), read(t, before.Transcript.Path)
	m.check(ours == theirs, "%d of %d bytes are kept", len(ours), len(theirs))
	m.must(os.RemoveAll(filepath.Dir(before.Transcript.Path)))
	m.ok("resume", "alpha", "--prompt", "What number?")
	m.mustAnswer("alpha", "43")
	m.mustBeInTheJournal("restored", "alpha", before.SessionID)
}
