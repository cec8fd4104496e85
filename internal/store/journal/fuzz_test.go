package journal

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

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
