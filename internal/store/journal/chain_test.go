package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
)

// withEvents is a store whose journal has so many links.
func withEvents(t *testing.T, n int) *Journal {
	t.Helper()
	j := newJournal(t)
	for i := range n {
		event := noted("alice", aliceID)
		event.Detail = fmt.Sprintf("number %d", i+1)
		mustAppend(t, j, event)
	}
	return j
}

func mustAppend(t testing.TB, j *Journal, event Event) {
	t.Helper()
	rig.Must(t, j.Append(t.Context(), event))
}

func verified(t *testing.T, j *Journal) Verification {
	t.Helper()
	v, err := j.Verify()
	rig.Must(t, err)
	return v
}

// mustVerify checks that the journal is whole, and has so many links and lines that are no events.
func mustVerify(t *testing.T, j *Journal, links int, cutShort ...int) {
	t.Helper()
	v := verified(t, j)
	rig.Check(t, v.Broken == nil && v.Links == links && slices.Equal(v.Torn, cutShort), "%+v, broken: %v; want %d links, torn %v\n%s", v, v.Broken, links, cutShort, storetest.Read(t, j.Path()))
}

func mustBreakAt(t *testing.T, j *Journal, what string, line ...int) {
	t.Helper()
	v := verified(t, j)
	rig.Check(t, v.Broken != nil && slices.Contains(line, v.Broken.Line) && v.Broken.File == j.Path(), "%s: %v; want it at line %v", what, v.Broken, line)
}

// Each byte of each line, the line breaks included, in turn. The next line may be the first that proves it.
func TestAlteredByteIsFound(t *testing.T) {
	t.Parallel()
	j := withEvents(t, 3) // a first, a middle and a last one
	text := []byte(storetest.Read(t, j.Path()))
	for at := range text {
		line := 1 + bytes.Count(text[:at], []byte{'\n'})
		for _, other := range []byte{text[at] ^ 1, ' '} {
			if other == text[at] {
				continue
			}
			altered := slices.Clone(text)
			altered[at] = other
			j.put(t, altered)
			mustBreakAt(t, j, fmt.Sprintf("byte %d of line %d as %q", at, line, other), line, line+1)
		}
	}
	j.put(t, text)
	mustVerify(t, j, 3)
}

func TestLinesThatWereRemovedPutInOrMovedAreFound(t *testing.T) {
	t.Parallel()
	j := withEvents(t, 6)
	l := strings.SplitAfter(storetest.Read(t, j.Path()), "\n")[:6]
	plainLine := `{"at":"2026-02-20T11:44:07Z","event":"start","handle":"alice","session_id":"` + string(aliceID) + `"}` + "\n"
	for what, c := range map[string]struct {
		lines []string
		line  int
	}{
		"the first removed":      {l[1:], 1},
		"one removed":            {[]string{l[0], l[1], l[3], l[4], l[5]}, 3},
		"the last removed":       {l[:5], 5},
		"all removed":            {nil, 1},
		"two swapped":            {[]string{l[0], l[2], l[1], l[3], l[4], l[5]}, 2},
		"one twice":              {[]string{l[0], l[1], l[1], l[2], l[3], l[4], l[5]}, 3},
		"one of no chain put in": {[]string{l[0], l[1], plainLine, l[2], l[3], l[4], l[5]}, 3},
		"one of no chain added":  {append(slices.Clone(l), plainLine), 7},
		"no event put in":        {[]string{l[0], l[1], "gone\n", l[2], l[3], l[4], l[5]}, 4},
		"no event put first":     {append([]string{"gone\n"}, l...), 2},
		"one of no chain first":  {append([]string{plainLine}, l...), 1},
		"all but of no chain":    {[]string{plainLine, plainLine}, 1},
	} {
		j.put(t, []byte(strings.Join(c.lines, "")))
		mustBreakAt(t, j, what, c.line)
	}
}

// What is cut off stays to be seen, whatever is appended.
func TestCutJournalIsFoundEverAfter(t *testing.T) {
	t.Parallel()
	j := withEvents(t, 4)
	lines := strings.SplitAfter(storetest.Read(t, j.Path()), "\n")
	j.put(t, []byte(lines[0]+lines[1]))
	mustBreakAt(t, j, "cut", 2)
	mustAppend(t, j, noted("bob", otherID))
	mustBreakAt(t, j, "cut and continued", 3)
	mustAppend(t, j, noted("bob", otherID))
	mustAppend(t, j, noted("bob", otherID))
	mustAppend(t, j, noted("bob", otherID))
	mustBreakAt(t, j, "cut and longer than before", 3)
	rig.Must(t, os.Remove(j.Path()))
	mustBreakAt(t, j, "removed", 1)
	mustAppend(t, j, noted("bob", otherID))
	mustBreakAt(t, j, "removed and begun again", 1)
}

// A line that a full disk or a power cut left, whole or not, does no harm ever after.
func TestTornLineIsLegal(t *testing.T) {
	t.Parallel()
	whole := `{"at":"2026-02-20T11:44:07Z","event":"start"`
	for _, left := range []string{"{", whole, "\x00\x00\x00", whole + "\n", whole + "\n" + whole, strings.Repeat("\x00", 3<<20), strings.Repeat("x", eventLimit) + "\n{"} {
		j := withEvents(t, 3)
		before := len(storetest.Read(t, j.Path()))
		j.put(t, []byte(storetest.Read(t, j.Path())+left))
		var lines []int
		for i := range len(strings.SplitAfter(strings.TrimSuffix(left, "\n"), "\n")) {
			lines = append(lines, 4+i)
		}
		mustVerify(t, j, 3, lines...)
		mustAppend(t, j, noted("bob", otherID))
		mustVerify(t, j, 4, lines...)
		mustAppend(t, j, noted("bob", otherID))
		mustVerify(t, j, 5, lines...)
		text := []byte(storetest.Read(t, j.Path()))
		text[before] ^= 3 // of the torn line
		j.put(t, text)
		mustBreakAt(t, j, fmt.Sprintf("%.20q altered", left), 4+len(lines))
	}
}

// A link whose line break alone is missing counts.
func TestLinkWithoutLineBreak(t *testing.T) {
	t.Parallel()
	j := withEvents(t, 2)
	text := storetest.Read(t, j.Path())
	first := strings.Index(text, "\n") + 1
	before := head{size: int64(first), sum: private.SumOf([]byte(text[:first-1]))}
	j.put(t, []byte(strings.TrimSuffix(text, "\n")))
	j.putHead(t, before.text()) // the writer was killed, so the head is behind
	mustVerify(t, j, 2)
	mustAppend(t, j, noted("bob", otherID))
	mustVerify(t, j, 3)
}

// Without its head the chain can still be followed, and the next line makes a new one.
func TestHeadThatIsGone(t *testing.T) {
	t.Parallel()
	for _, left := range []string{"", "0", strings.Repeat("0", headSize), strings.Repeat("\x00", headSize)} {
		j := withEvents(t, 3)
		j.putHead(t, []byte(left))
		v := verified(t, j)
		rig.Check(t, v.Broken == nil && v.NoHead && v.Links == 3, "head %q: %+v", left, v)
		mustAppend(t, j, noted("bob", otherID))
		v = verified(t, j)
		rig.Check(t, v.Broken == nil && !v.NoHead && v.Links == 4, "head %q: %+v", left, v)
	}
}

func TestVerifyWithoutAJournal(t *testing.T) {
	t.Parallel()
	v := verified(t, newJournal(t))
	rig.Check(t, v.Broken == nil && v.Lines == 0, "%+v", v)
}

// Words of somebody else'j do not make a line that no reader takes for an event.
func TestLongDetailIsCut(t *testing.T) {
	t.Parallel()
	j := withEvents(t, 1)
	event := noted("alice", otherID)
	event.Detail = strings.Repeat("\x01", eventLimit)
	mustAppend(t, j, event)
	mustVerify(t, j, 2)
	rig.Equal(t, j.LastSessionID("alice"), otherID, "last session id")
}

// Who can write all of .nbs makes a chain that fits in itself, and is found all the same: the
// head is elsewhere.
func TestChainThatWasMadeAnewIsFound(t *testing.T) {
	t.Parallel()
	for what, forge := range map[string]func(l []string) []string{
		"one line less": func(l []string) []string { return []string{l[0], l[2], l[3]} },
		"one line other": func(l []string) []string {
			return []string{l[0], strings.Replace(l[1], "start", "spawn", 1), l[2], l[3]}
		},
		"one line more": func(l []string) []string { return []string{l[0], l[0], l[1], l[2], l[3]} },
		"its end cut":   func(l []string) []string { return l[:2] },
		"all removed":   func([]string) []string { return nil },
	} {
		j := withEvents(t, 4)
		if forged := forge(strings.SplitAfter(storetest.Read(t, j.Path()), "\n")[:4]); forged != nil {
			makeChain(t, j, forged...)
		} else {
			rig.Must(t, os.Remove(j.Path()))
		}
		v := verified(t, j)
		rig.Check(t, v.Broken != nil, "%s: not found", what)
		mustAppend(t, j, noted("bob", otherID))
		v = verified(t, j)
		rig.Check(t, v.Broken != nil, "%s: not found after the next event", what)
	}
}

// makeChain makes the journal anew, as a chain of the lines' events.
func makeChain(t *testing.T, j *Journal, lines ...string) {
	t.Helper()
	var text []byte
	last := firstSum
	for _, line := range lines {
		var event Event
		rig.Must(t, json.Unmarshal([]byte(line), &event))
		event.Prev = last
		link, err := encodeEvent(event)
		rig.Must(t, err)
		text = append(append(text, link...), '\n')
		last = private.SumOf(link)
	}
	j.put(t, text)
}

// A project that was removed and made anew in the same place begins a new journal, which says
// that there was another.
func TestProjectThatWasMadeAnewBeginsItsJournal(t *testing.T) {
	t.Parallel()
	j := withEvents(t, 3)
	project := j.project()
	storetest.Must(os.RemoveAll(j.nbs.Path()))
	again := openIn(t, project)
	v := verified(t, again)
	rig.Check(t, v.Broken == nil, "%v", v.Broken)
	mustAppend(t, again, noted("bob", otherID))
	mustVerify(t, again, 2)
	text := storetest.Read(t, again.Path())
	rig.Check(t, strings.Contains(strings.SplitAfter(text, "\n")[0], "the earlier .nbs in this place had one of "), "it does not say so:\n%s", text)
	mustAppend(t, again, noted("bob", otherID))
	mustVerify(t, again, 3)
}
