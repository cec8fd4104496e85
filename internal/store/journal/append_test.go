package journal

import (
	"strings"
	"sync"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestManyProcessesWriteAtOnce(t *testing.T) {
	t.Parallel()
	const writers = 40
	j := newJournal(t)
	var all sync.WaitGroup
	for range writers {
		cmd := rig.Command("append", j.project())
		all.Go(func() {
			out, err := cmd.CombinedOutput()
			rig.Check(t, err == nil, "%v: %s", err, out)
		})
	}
	all.Go(func() { // who looks meanwhile sees a whole journal
		for range 50 {
			v, err := j.Verify()
			rig.Check(t, err == nil && v.Broken == nil, "meanwhile: %v, %v", v.Broken, err)
		}
	})
	all.Wait()
	mustVerify(t, j, writers)
	v := verified(t, j)
	rig.Check(t, !v.NoHead, "no head")
}

// The first line of a journal, or one behind others: it is there or it is not, and nothing else is lost.
func TestKilledAppendLeavesAChain(t *testing.T) {
	t.Parallel()
	for _, before := range []int{0, 2} {
		eachKill(t, func() *Journal { return withEvents(t, before) }, func(j *Journal, killed bool) {
			v := verified(t, j)
			rig.Check(t, v.Broken == nil && (v.Links == before+1 || v.Links == before && killed) && len(v.Torn) == 0, "%d before: %+v, broken: %v", before, v, v.Broken)
			id := j.LastSessionID("alice")
			rig.Check(t, (v.Links <= before || id == otherID) && (before <= 0 || v.Links != before || id == aliceID), "%d before: the journal names %q last", before, id)
			mustAppend(t, j, noted("carol", otherID))
			mustVerify(t, j, v.Links+1)
		})
	}
}

// A disk that refuses leaves a chain that goes on.
func TestDiskErrorLeavesAChain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		call, how string
		n         int
		says      string
	}{
		{"write", "error=ENOSPC", 1, "write .nbs/journal.jsonl: "}, {"fsync", "error=ENOSPC", 1, "write .nbs/journal.jsonl: "},
		{"fsync", "error=EIO", 1, "write .nbs/journal.jsonl: "}, {"write", "error=ENOSPC", 2, ".home/journals/"},
	} {
		j := withEvents(t, 2)
		out, end := rig.Tampered(t, rig.Command("append", j.project()), c.call, c.how, c.n)
		rig.Check(t, end.ExitStatus() == 1 && strings.Contains(out, c.says), "%+v: exit code %d: %s", c, end.ExitStatus(), out)
		links := verified(t, j).Links
		mustVerify(t, j, links)
		mustAppend(t, j, noted("carol", otherID))
		mustVerify(t, j, links+1)
	}
}

func TestPlantedJournalIsRefused(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	storetest.Plant(t, j.Path())
	err := j.Append(t.Context(), Event{Event: "spawn", Handle: "alice"})
	rig.Check(t, err != nil, "the journal was written through a link")
}
