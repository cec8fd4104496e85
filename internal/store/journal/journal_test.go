package journal

import (
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
	const writers, each = 8, 25
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
