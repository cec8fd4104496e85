package journal

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
)

func TestEventIsOneLine(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	event := Event{At: storetest.SomeTime(), Event: "exit", Handle: "alice", SessionID: aliceID, Invocation: "i", PID: 7, Detail: "two\nlines"}
	rig.Must(t, j.Append(t.Context(), event))
	rig.Must(t, j.Append(t.Context(), Event{At: storetest.SomeTime(), Event: "stop", Handle: "bob", SessionID: otherID}))
	want := `{"at":"2026-02-20T11:44:07Z","event":"exit","handle":"alice","session_id":"` + string(aliceID) +
		`","invocation":"i","pid":7,"detail":"two\nlines","prev":"` + string(firstSum) + `"}` + "\n"
	want +=
		`{"at":"2026-02-20T11:44:07Z","event":"stop","handle":"bob","session_id":"` + string(otherID) + `","prev":"` + string(private.SumOf([]byte(strings.TrimSuffix(want, "\n")))) + `"}` + "\n"
	rig.Same(t, "the journal", want, storetest.Read(t, j.Path()))
}

func TestEventOfARecord(t *testing.T) {
	t.Parallel()
	r := agent.Record{Spec: agent.Spec{Handle: "alice", SessionID: aliceID}, PID: 7, Process: &agent.Process{Invocation: "i"}}
	want := Event{At: storetest.SomeTime(), Event: "stop", Handle: "alice", SessionID: aliceID, Invocation: "i", PID: 7, Detail: "idle"}
	rig.Same(t, "the event", want, EventOf(&r, storetest.SomeTime(), "stop", "idle"))
	r.Process = nil // of the original tools
	want.Invocation = ""
	rig.Same(t, "without a start", want, EventOf(&r, storetest.SomeTime(), "stop", "idle"))
}

func TestConcurrentEventsStayWhole(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	const writers, each = 8, 10
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for range each {
				detail := strings.Repeat(string(rune('a'+w)), 9000) // more than a page
				err := j.Append(t.Context(), Event{At: storetest.SomeTime(), Event: "start", Handle: "alice", SessionID: aliceID, Detail: detail})
				rig.Check(t, err == nil, "%v", err)
			}
		})
	}
	wait.Wait()
	mustVerify(t, j, writers*each)
}

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

// Whatever stands in the journal and in its head, a line that is appended fits to it, and
// the check of the chain finds nothing behind it to be wrong.
func FuzzJournalChain(f *testing.F) {
	first := `{"at":"2026-02-20T11:44:07Z","event":"start","handle":"alice","session_id":"` + string(aliceID) + `","prev":"` + string(firstSum) + `"}`
	for _, text := range []string{first + "\n", first, "", "\n", "\x00\x00", "{\n{\n", first + "\n" + first + "\n", strings.Replace(first, `"prev"`, `"over":-1,"prev"`, 1)} {
		f.Add([]byte(text), uint16(0), []byte(nil))
		f.Add([]byte(text), uint16(eventLimit-1), head{size: int64(len(text)), sum: firstSum}.text())
	}
	j := openIn(f, storetest.MemoryProject(f))
	mustAppend(f, j, noted("alice", aliceID)) // a journal of its own, in no other's place
	f.Fuzz(func(t *testing.T, text []byte, longer uint16, headText []byte) {
		j.put(t, slices.Concat(bytes.Repeat([]byte{' '}, int(longer)), text))
		j.putHead(t, headText)
		before := verified(t, j)
		mustAppend(t, j, noted("bob", otherID))
		after := verified(t, j)
		if after.NoHead || before.Broken == nil && (after.Broken != nil || after.Links != before.Links+1) {
			t.Errorf("before %+v, %v; after %+v, %v", before, before.Broken, after, after.Broken)
		}
		mustAppend(t, j, noted("bob", otherID))
		again := verified(t, j)
		rig.Check(t, (again.Broken == nil) == (after.Broken == nil) && (after.Broken == nil || again.Broken.Line <= after.Lines), "first %v, then %v", after.Broken, again.Broken)
	})
}
