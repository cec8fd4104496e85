package store

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
)

func TestEventIsOneLine(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	event := Event{At: someTime(), Event: "exit", Handle: "alice", SessionID: aliceID, Invocation: "i", PID: 7, Detail: "two\nlines"}
	if err := s.Append(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), Event{At: someTime(), Event: "stop", Handle: "bob", SessionID: otherID}); err != nil {
		t.Fatal(err)
	}
	want := `{"at":"2026-02-20T11:44:07Z","event":"exit","handle":"alice","session_id":"` + string(aliceID) +
		`","invocation":"i","pid":7,"detail":"two\nlines","prev":"` + string(firstSum) + `"}` + "\n"
	want +=
		`{"at":"2026-02-20T11:44:07Z","event":"stop","handle":"bob","session_id":"` + string(otherID) + `","prev":"` + string(sumOf([]byte(strings.TrimSuffix(want, "\n")))) + `"}` + "\n"
	if diff := cmp.Diff(want, readFile(t, path(s, "journal.jsonl"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEventOfARecord(t *testing.T) {
	t.Parallel()
	r := agent.Record{Handle: "alice", SessionID: aliceID, PID: 7, Process: &agent.Process{Invocation: "i"}}
	want := Event{At: someTime(), Event: "stop", Handle: "alice", SessionID: aliceID, Invocation: "i", PID: 7, Detail: "idle"}
	if diff := cmp.Diff(want, EventOf(&r, someTime(), "stop", "idle")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	r.Process = nil // of the original tools
	want.Invocation = ""
	if diff := cmp.Diff(want, EventOf(&r, someTime(), "stop", "idle")); diff != "" {
		t.Errorf("without a start: -want +got:\n%s", diff)
	}
}

func TestConcurrentEventsStayWhole(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const writers, each = 8, 25
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for range each {
				detail := strings.Repeat(string(rune('a'+w)), 9000) // more than a page
				if err := s.Append(t.Context(), Event{At: someTime(), Event: "start", Handle: "alice", SessionID: aliceID, Detail: detail}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	lines := strings.Split(strings.TrimSuffix(readFile(t, path(s, "journal.jsonl")), "\n"), "\n")
	if len(lines) != writers*each {
		t.Errorf("%d lines; want %d", len(lines), writers*each)
	}
	for _, line := range lines {
		var event Event
		if err := json.Unmarshal([]byte(line), &event); err != nil || len(event.Detail) != 9000 {
			t.Fatalf("a mixed line: %v", err)
		}
	}
}
