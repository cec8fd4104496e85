package store

import (
	"strings"
	"sync"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestTwoHundredProcessesWriteAtOnce(t *testing.T) {
	t.Parallel()
	const writers = 200
	s := newStore(t)
	var all sync.WaitGroup
	for range writers {
		cmd := rig.Command("append", s.Project())
		all.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Go(func() { // who looks meanwhile sees a whole journal
		for range 50 {
			if v, err := s.VerifyJournal(); err != nil || v.Broken != nil {
				t.Errorf("meanwhile: %v, %v", v.Broken, err)
			}
		}
	})
	all.Wait()
	mustVerify(t, s, writers)
	if v := verified(t, s); v.NoHead {
		t.Error("no head")
	}
}

func TestKilledAppendLeavesAChain(t *testing.T) {
	t.Parallel()
	eachKill(t, "append", func(t *testing.T) string {
		t.Helper()
		return withEvents(t, 2).Project()
	}, func(s *Store, killed bool) {
		v := verified(t, s)
		if v.Broken != nil || v.Links != 3 && (v.Links != 2 || !killed) || len(v.Torn) > 0 {
			t.Errorf("%+v, broken: %v", v, v.Broken)
		}
		mustAppend(t, s, noted("carol", otherID))
		mustVerify(t, s, v.Links+1)
	})
}

func TestKilledFirstAppendLeavesAChain(t *testing.T) {
	t.Parallel()
	eachKill(t, "append", func(t *testing.T) string {
		t.Helper()
		return newStore(t).Project()
	}, func(s *Store, _ bool) {
		links := verified(t, s).Links
		mustAppend(t, s, noted("carol", otherID))
		mustVerify(t, s, links+1)
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
		s := withEvents(t, 2)
		out, end := rig.Tampered(t, rig.Command("append", s.Project()), c.call, "error=ENOSPC", c.n)
		if end.ExitStatus() != 1 || !strings.Contains(out, c.says) {
			t.Errorf("%+v: exit code %d: %s", c, end.ExitStatus(), out)
		}
		links := verified(t, s).Links
		mustVerify(t, s, links)
		mustAppend(t, s, noted("carol", otherID))
		mustVerify(t, s, links+1)
	}
}

func BenchmarkAppend(b *testing.B) {
	s, err := own(Create(memoryProject(b)))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	must(s.prepare())
	for b.Loop() {
		must(s.Append(b.Context(), noted("alice", aliceID)))
	}
}
