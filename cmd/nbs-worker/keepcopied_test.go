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
	if ours, theirs := read(t, m.keptPath(before.SessionID)), read(t, before.Transcript.Path); ours != theirs {
		t.Errorf("%d of %d bytes are kept", len(ours), len(theirs))
	}
	if err := os.RemoveAll(filepath.Dir(before.Transcript.Path)); err != nil {
		t.Fatal(err)
	}
	m.ok("resume", "alpha", "--prompt", "What number?")
	m.mustAnswer("alpha", "43")
	m.mustBeInTheJournal("restored", "alpha", before.SessionID)
}
