package screen

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

const prompts = "../../../testdata/prompts"

// Of the prompts that both versions were seen with, what somebody has typed is known from what
// Claude writes there itself.
func TestDrafts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"empty": "", "after-failure": "", "busy-queued": "", "draft": "half a draft", "cursor-at-home": "half a draft",
		"two-lines": "line one\nline two", "one-character": "x", "shell-mode": "! ls",
	} {
		for _, version := range []string{"2.1.197", "2.1.329"} {
			text, err := os.ReadFile(filepath.Join(prompts, version, name+".ansi"))
			rig.Must(t, err)
			got, found := Draft(string(text))
			rig.Check(t, found && got == want, "%s, %s: %q, found %t; want %q", version, name, got, found, want)
		}
	}
}

func TestNoDraftWithoutABox(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"2.1.329/permission-prompt.txt", "2.1.329/question-80x24.txt", "2.1.329/exited-with-resume-hint.txt"} {
		got, found := Draft(screen(t, name))
		rig.Check(t, !found, "%s: %q", name, got)
	}
	got, found := Draft("")
	rig.Check(t, !found, "nothing: %q", got)
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for styled, want := range map[string]string{
		"\x1b[38;2;7;2;7mred\x1b[0m \x1b[7;2mdim":             "red dim",
		"\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1b[38:5:2mgreen\x1b[K":                             "green", "no\nlines": "no\nlines", "\x1b": "\x1b", "\x1b[": "\x1b[",
	} {
		rig.Equal(t, Plain(styled), want, "%q", styled)
	}
}

func FuzzDraft(f *testing.F) {
	f.Add("──────────\n❯ \x1b[7mP\x1b[0;2mress up\x1b[0m\n──────────\n")
	f.Fuzz(func(_ *testing.T, styled string) { Draft(styled) })
}
