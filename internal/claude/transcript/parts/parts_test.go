package parts

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(m)) }

// put writes a transcript in a folder of its own.
func put(t *testing.T, text string) transcript.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return transcript.At(path)
}

const metaLine = `{"type":"permission-mode","permissionMode":"manual"}` + "\n"

func recordLine(uuid, parent string) string {
	if parent != "" {
		parent = `"` + parent + `"`
	} else {
		parent = "null"
	}
	return `{"type":"user","uuid":"` + uuid + `","parentUuid":` + parent + `}` + "\n"
}

// Each part is found by the parent of its first record, and all become one file again.
func TestPartsAreJoined(t *testing.T) {
	t.Parallel()
	first := recordLine("a", "") + recordLine("b", "a")
	second := metaLine + recordLine("c", "b") + recordLine("d", "c")
	last := metaLine + recordLine("e", "d")
	current := put(t, last)
	var earlier []transcript.File
	for _, text := range []string{first, second + `{"cut sh`, recordLine("x", "")} {
		earlier = append(earlier, put(t, text))
	}
	earlier = append(earlier, current)
	parts, err := Of(current, earlier)
	if err != nil || len(parts) != 3 {
		t.Fatal(parts, err)
	}
	rig.Must(t, Join(current, parts))
	text, err := os.ReadFile(current.Path)
	want := first + second + `{"cut sh` + "\n" + last
	rig.Check(t, err == nil && string(text) == want, "%q, %v; want %q", text, err, want)
	info, err := os.Stat(current.Path)
	entries, _ := os.ReadDir(filepath.Dir(current.Path))
	rig.Check(t, err == nil && info.Mode().Perm() == 0o600 && len(entries) == 1, "%v, %v, %v", info, err, entries)
	if parts, err = Of(current, earlier); err != nil || len(parts) != 1 {
		t.Errorf("a whole one lacks %v, %v", parts, err)
	}
}

// What nobody has, and what has no parent, is as it is.
func TestTranscriptThatContinuesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", metaLine, recordLine("e", ""), recordLine("e", "lost"), recordLine("f", "e") + recordLine("e", "")} {
		current := put(t, text)
		parts, err := Of(current, []transcript.File{put(t, recordLine("x", ""))})
		rig.Check(t, err == nil && slices.Equal(parts, []transcript.File{current}), "%q: %v, %v", text, parts, err)
	}
}

// Another transcript stands in this one when each of its records does, wherever.
func TestHasAllRecords(t *testing.T) {
	t.Parallel()
	a, b, c := recordLine("a", ""), recordLine("b", "a"), recordLine("c", "b")
	current := put(t, a+b+c)
	for text, want := range map[string]bool{
		"": true, metaLine: true, a: true, a + b + c: true, b: true, a + c: true, c + a: true, a + metaLine + c + `{"cut sh`: true,
		a + b + c + recordLine("d", "c"): false, recordLine("x", ""): false, a + recordLine("x", "a") + c: false,
	} {
		rig.Gives(t, want, "%q", text)(Has(current, put(t, text)))
	}
}

// A part that begins within the one before is not written twice.
func TestJoinOfPartsThatOverlap(t *testing.T) {
	t.Parallel()
	a, b, c := recordLine("a", ""), recordLine("b", "a"), recordLine("c", "b")
	current := put(t, b+c)
	rig.Must(t, Join(current, []transcript.File{put(t, a+b), current}))
	text, err := os.ReadFile(current.Path)
	rig.Check(t, err == nil && string(text) == a+b+c, "%q, %v", text, err)
}

// Claude went on behind what is kept, in a transcript that had lost some of it by then.
func TestPartBehindWhatWasTakenAway(t *testing.T) {
	t.Parallel()
	a, b, c, d := recordLine("a", ""), recordLine("b", "a"), recordLine("c", "b"), recordLine("d", "c")
	kept := put(t, a+b+c)
	for text, want := range map[string]int{a + d: 2, a + b + d: 2, a + c + d: 1, a + recordLine("x", "a"): 1, a + b: 1, a + b + c + d: 1} {
		current := put(t, text)
		parts, err := Of(current, []transcript.File{current, kept})
		rig.Check(t, err == nil && len(parts) == want, "%q: %v, %v", text, parts, err)
	}
	current := put(t, a+d)
	rig.Must(t, Join(current, []transcript.File{kept, current}))
	text, err := os.ReadFile(current.Path)
	rig.Check(t, err == nil && string(text) == a+b+c+d, "%q, %v", text, err)
}
