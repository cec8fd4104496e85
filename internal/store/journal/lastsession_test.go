package journal

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// The journal may be damaged too; what can be read of it counts.
func TestLastSessionIDOfATornJournal(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	mustAppend(t, j, noted("alice", otherID))
	mustAppend(t, j, noted("alice", aliceID))
	j.put(t, []byte(storetest.Read(t, j.Path())+"null\n[]\n{\"handle\":\"alice\",\"session_id\":\"--flag\"}\n{\"handle\":\"alice\",\"sess"))
	rig.Equal(t, j.LastSessionID("alice"), aliceID, "lastSessionID")
}

// A line longer than any of ours, such as a hole that a power cut left, hides nothing.
func TestLastSessionIDBehindALineWithoutEnd(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	mustAppend(t, j, noted("alice", otherID))
	storetest.Write(t, j.Path(), storetest.Read(t, j.Path())+strings.Repeat("\x00", 3<<20)+"\n")
	mustAppend(t, j, noted("alice", aliceID))
	rig.Equal(t, j.LastSessionID("alice"), aliceID, "lastSessionID")
}

// What stands in the journal hides no event that is appended to it, and an id that it
// gives is one that it names.
func FuzzJournal(f *testing.F) {
	line := `{"at":"2026-02-20T11:44:07Z","event":"start","handle":"alice","session_id":"` + string(aliceID) + `"}`
	for _, text := range []string{
		line + "\n", line, strings.ToUpper(line), line[:60], "\n\n" + line + "\r\n" + strings.Repeat("x", eventLimit) + "\n", "null\n[]\n{}",
		strings.Replace(line, string(aliceID), "{"+string(aliceID)+"}", 1),
	} {
		f.Add([]byte(text), uint16(0))
		f.Add([]byte(text), uint16(eventLimit-1))
	}
	f.Fuzz(func(t *testing.T, text []byte, longer uint16) {
		text = append(bytes.Repeat([]byte{' '}, int(longer)), text...)
		if id := lastSessionIDs(bytes.NewReader(text))["alice"]; id != "" {
			parsed, err := agent.ParseSessionID(string(id))
			rig.Check(t, err == nil && parsed == id, "the journal gives %q: %v", id, err)
		}
		appended := slices.Concat(text, []byte("\n"+strings.ReplaceAll(line, string(aliceID), string(otherID))+"\n"))
		rig.Equal(t, lastSessionIDs(bytes.NewReader(appended))["alice"], otherID, "the last event is hidden")
	})
}
