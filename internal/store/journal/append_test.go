package journal

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestTwoHundredProcessesWriteAtOnce(t *testing.T) {
	t.Parallel()
	const writers = 200
	j := newJournal(t)
	var all sync.WaitGroup
	for range writers {
		cmd := rig.Command("append", j.project())
		all.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Go(func() { // who looks meanwhile sees a whole journal
		for range 50 {
			if v, err := j.Verify(); err != nil || v.Broken != nil {
				t.Errorf("meanwhile: %v, %v", v.Broken, err)
			}
		}
	})
	all.Wait()
	mustVerify(t, j, writers)
	if v := verified(t, j); v.NoHead {
		t.Error("no head")
	}
}

func TestKilledAppendLeavesAChain(t *testing.T) {
	t.Parallel()
	eachKill(t, func(t *testing.T) *Journal {
		t.Helper()
		return withEvents(t, 2)
	}, func(j *Journal, killed bool) {
		v := verified(t, j)
		if v.Broken != nil || v.Links != 3 && (v.Links != 2 || !killed) || len(v.Torn) > 0 {
			t.Errorf("%+v, broken: %v", v, v.Broken)
		}
		mustAppend(t, j, noted("carol", otherID))
		mustVerify(t, j, v.Links+1)
	})
}

func TestKilledFirstAppendLeavesAChain(t *testing.T) {
	t.Parallel()
	eachKill(t, func(t *testing.T) *Journal {
		t.Helper()
		return newJournal(t)
	}, func(j *Journal, _ bool) {
		links := verified(t, j).Links
		mustAppend(t, j, noted("carol", otherID))
		mustVerify(t, j, links+1)
	})
}

// A disk that refuses leaves a chain that goes on.
func TestDiskErrorLeavesAChain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		call string
		n    int
		says string
	}{{"write", 1, "write .nbs/journal.jsonl: "}, {"fsync", 1, "write .nbs/journal.jsonl: "}, {"write", 2, ".home/journals/"}} {
		j := withEvents(t, 2)
		out, end := rig.Tampered(t, rig.Command("append", j.project()), c.call, "error=ENOSPC", c.n)
		if end.ExitStatus() != 1 || !strings.Contains(out, c.says) {
			t.Errorf("%+v: exit code %d: %s", c, end.ExitStatus(), out)
		}
		links := verified(t, j).Links
		mustVerify(t, j, links)
		mustAppend(t, j, noted("carol", otherID))
		mustVerify(t, j, links+1)
	}
}

func TestKilledAppendLosesNoOtherLine(t *testing.T) {
	t.Parallel()
	eachKill(t, func(t *testing.T) *Journal {
		t.Helper()
		j := newJournal(t)
		mustAppend(t, j, noted("alice", aliceID))
		mustAppend(t, j, noted("bob", aliceID))
		return j
	}, func(j *Journal, killed bool) {
		if id := j.LastSessionID("alice"); id != otherID && (id != aliceID || !killed) {
			t.Errorf("the journal names %q last", id)
		}
		mustAppend(t, j, noted("carol", otherID))
		mustHoldWholeLines(t, j, 3, "carol")
	})
}

// mustHoldWholeLines checks that a journal has at least so many events, and which agent'j the last is.
func mustHoldWholeLines(t *testing.T, j *Journal, least int, last agent.Handle) {
	t.Helper()
	text := storetest.Read(t, j.Path())
	whole, torn := []Event{}, 0
	for line := range strings.Lines(text) {
		var event Event
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			torn++
			continue
		}
		whole = append(whole, event)
	}
	if len(whole) < least || torn > 1 || whole[len(whole)-1].Handle != last || !strings.HasSuffix(text, "}\n") {
		t.Errorf("%d events, %d torn lines:\n%s", len(whole), torn, text)
	}
}

func TestDiskErrorInTheJournal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ call, how string }{{"write", "error=ENOSPC"}, {"fsync", "error=EIO"}} {
		j := newJournal(t)
		mustAppend(t, j, noted("alice", aliceID))
		out, end := rig.Tampered(t, rig.Command("append", j.project()), c.call, c.how, 1)
		if end.ExitStatus() != 1 || !strings.Contains(out, "write .nbs/journal.jsonl: ") {
			t.Errorf("%s: exit code %d: %s", c.call, end.ExitStatus(), out)
		}
		mustAppend(t, j, noted("bob", aliceID))
		mustHoldWholeLines(t, j, 2, "bob")
	}
}

func TestPlantedJournalIsRefused(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	storetest.Plant(t, j.Path())
	if err := j.Append(t.Context(), Event{Event: "spawn", Handle: "alice"}); err == nil {
		t.Error("the journal was written through a link")
	}
}

func BenchmarkAppend(b *testing.B) {
	j := openIn(b, storetest.MemoryProject(b))
	for b.Loop() {
		storetest.Must(j.Append(b.Context(), noted("alice", aliceID)))
	}
}
