package journal

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if diff := cmp.Diff(want, storetest.Read(t, j.Path())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEventOfARecord(t *testing.T) {
	t.Parallel()
	r := agent.Record{Spec: agent.Spec{Handle: "alice", SessionID: aliceID}, PID: 7, Process: &agent.Process{Invocation: "i"}}
	want := Event{At: storetest.SomeTime(), Event: "stop", Handle: "alice", SessionID: aliceID, Invocation: "i", PID: 7, Detail: "idle"}
	if diff := cmp.Diff(want, EventOf(&r, storetest.SomeTime(), "stop", "idle")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	r.Process = nil // of the original tools
	want.Invocation = ""
	if diff := cmp.Diff(want, EventOf(&r, storetest.SomeTime(), "stop", "idle")); diff != "" {
		t.Errorf("without a start: -want +got:\n%s", diff)
	}
}

func TestConcurrentEventsStayWhole(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	const writers, each = 8, 25
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for range each {
				detail := strings.Repeat(string(rune('a'+w)), 9000) // more than a page
				if err := j.Append(t.Context(), Event{At: storetest.SomeTime(), Event: "start", Handle: "alice", SessionID: aliceID, Detail: detail}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	lines := strings.Split(strings.TrimSuffix(storetest.Read(t, j.Path()), "\n"), "\n")
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
