package claude

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
)

func TestCleanupDays(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		user, project, local string
		want                 float64
		source               string
	}{
		"nothing said":            {"", "", "", DefaultCleanupDays, ""},
		"by the user":             {`{"cleanupPeriodDays":3650}`, "", "", 3650, "user"},
		"by the project":          {`{"cleanupPeriodDays":3650}`, `{"cleanupPeriodDays":7}`, "", 7, "project"},
		"by the project's local":  {`{"cleanupPeriodDays":3650}`, `{"cleanupPeriodDays":7}`, `{"cleanupPeriodDays":1}`, 1, "local"},
		"zero":                    {`{"cleanupPeriodDays":0}`, "", "", 0, "user"},
		"not a number, torn, odd": {`{"cleanupPeriodDays":-1}`, `{"cleanupPeriodDays":"7"}`, `{"cleanup`, DefaultCleanupDays, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			config, cwd := newConfig(t), t.TempDir()
			files := map[string]string{
				"user": filepath.Join(config.dir, "settings.json"), "project": filepath.Join(cwd, ".claude", "settings.json"),
				"local": filepath.Join(cwd, ".claude", "settings.local.json"),
			}
			for name, text := range map[string]string{"user": c.user, "project": c.project, "local": c.local} {
				if text == "" {
					continue
				}
				if err := os.MkdirAll(filepath.Dir(files[name]), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(files[name], []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if days, source := config.CleanupDays(cwd); days != c.want || source != files[c.source] {
				t.Errorf("%v days, says %q; want %v, %q", days, source, c.want, c.source)
			}
		})
	}
}

func TestRestorePath(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	cwd := filepath.Join(t.TempDir(), "a.b_c dé")
	for folder, want := range map[string]string{
		"-srv-project": "-srv-project",
		"":             strings.NewReplacer("/", "-", ".", "-", "_", "-", " ", "-", "é", "-").Replace(cwd),
	} {
		path, err := config.RestorePath(sessionID, folder, cwd)
		if err != nil || path != filepath.Join(config.projects(), want, string(sessionID)+".jsonl") {
			t.Errorf("%q: %s, %v", folder, path, err)
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%q: %v, %v", folder, info, err)
		}
	}
}

func recordLine(uuid, parent string) string {
	if parent != "" {
		parent = `"` + parent + `"`
	} else {
		parent = "null"
	}
	return `{"type":"user","uuid":"` + uuid + `","parentUuid":` + parent + `}` + "\n"
}

// Each part is found by the parent of its first record, and all become one file again.
func TestContinuedAndJoin(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	first := recordLine("a", "") + recordLine("b", "a")
	second := metaLine + recordLine("c", "b") + recordLine("d", "c")
	last := metaLine + recordLine("e", "d")
	current := config.putTranscript(t, last)
	var earlier []Transcript
	for name, text := range map[string]string{"1": first, "2": second + `{"cut sh`, "3": recordLine("x", "")} {
		earlier = append(earlier, TranscriptAt(config.put(t, name+".jsonl", text)))
	}
	earlier = append(earlier, current)
	parts, err := current.Continued(earlier)
	if err != nil || len(parts) != 3 {
		t.Fatal(parts, err)
	}
	if err := current.Join(parts); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(current.Path)
	if want := first + second + `{"cut sh` + "\n" + last; err != nil || string(text) != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
	info, err := os.Stat(current.Path)
	if entries, _ := os.ReadDir(filepath.Dir(current.Path)); err != nil || info.Mode().Perm() != 0o600 || len(entries) != 1 {
		t.Errorf("%v, %v, %v", info, err, entries)
	}
	if parts, err = current.Continued(earlier); err != nil || len(parts) != 1 {
		t.Errorf("a whole one lacks %v, %v", parts, err)
	}
}

// What nobody has, and what has no parent, is as it is.
func TestContinuedFindsNothing(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	for _, text := range []string{"", metaLine, recordLine("e", ""), recordLine("e", "lost"), recordLine("f", "e") + recordLine("e", "")} {
		current := config.putTranscript(t, text)
		parts, err := current.Continued([]Transcript{TranscriptAt(config.put(t, "1.jsonl", recordLine("x", "")))})
		if err != nil || !slices.Equal(parts, []Transcript{current}) {
			t.Errorf("%q: %v, %v", text, parts, err)
		}
	}
}

func TestClearPlace(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	if err := config.ClearPlace(sessionID); err != nil {
		t.Error(err)
	}
	config.putTranscript(t, metaLine)
	if err := config.ClearPlace(sessionID); err != nil {
		t.Error(err)
	}
	config.putTranscript(t, userLine)
	err := config.ClearPlace(sessionID)
	wantKind(t, "spoken", err, agent.Conflict)
	if err == nil || !strings.Contains(err.Error(), string(sessionID)) {
		t.Error(err)
	}
}

// Another transcript stands in this one when each of its records does, wherever.
func TestHasAllRecords(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	a, b, c := recordLine("a", ""), recordLine("b", "a"), recordLine("c", "b")
	current := config.putTranscript(t, a+b+c)
	for text, want := range map[string]bool{
		"": true, metaLine: true, a: true, a + b + c: true, b: true, a + c: true, c + a: true, a + metaLine + c + `{"cut sh`: true,
		a + b + c + recordLine("d", "c"): false, recordLine("x", ""): false, a + recordLine("x", "a") + c: false,
	} {
		if has, err := current.Has(TranscriptAt(config.put(t, "other.jsonl", text))); has != want || err != nil {
			t.Errorf("%q: %t, %v", text, has, err)
		}
	}
}

// A part that begins within the one before is not written twice.
func TestJoinOfPartsThatOverlap(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	a, b, c := recordLine("a", ""), recordLine("b", "a"), recordLine("c", "b")
	current := config.putTranscript(t, b+c)
	if err := current.Join([]Transcript{TranscriptAt(config.put(t, "1.jsonl", a+b)), current}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(current.Path); err != nil || string(text) != a+b+c {
		t.Errorf("%q, %v", text, err)
	}
}

// Claude went on behind what is kept, in a transcript that had lost some of it by then.
func TestContinuedBehindWhatWasTakenAway(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	a, b, c, d := recordLine("a", ""), recordLine("b", "a"), recordLine("c", "b"), recordLine("d", "c")
	kept := TranscriptAt(config.put(t, "1.jsonl", a+b+c))
	for text, want := range map[string]int{a + d: 2, a + b + d: 2, a + c + d: 1, a + recordLine("x", "a"): 1, a + b: 1, a + b + c + d: 1} {
		current := config.putTranscript(t, text)
		parts, err := current.Continued([]Transcript{current, kept})
		if err != nil || len(parts) != want {
			t.Errorf("%q: %v, %v", text, parts, err)
		}
	}
	current := config.putTranscript(t, a+d)
	if err := current.Join([]Transcript{kept, current}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(current.Path); err != nil || string(text) != a+b+c+d {
		t.Errorf("%q, %v", text, err)
	}
}
