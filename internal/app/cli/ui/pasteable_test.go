package ui

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"nbs-worker/internal/sim/rig"
)

// What is shown can be pasted, and does nothing to the terminal that shows it.
func TestShellQuote(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"":                   "''",
		"--model":            "--model",
		"opus[1m]":           "'opus[1m]'",
		"/srv/a b":           "'/srv/a b'",
		"it's":               `'it'\''s'`,
		"$(x)`x`\\":          "'$(x)`x`\\'",
		"two\nlines\t":       "'two\nlines\t'",
		"\u2713":             "'\u2713'",
		"\x1b]0;x\x07":       `$'\x1b]0;x\x07'`,
		"it's\\\u009b\u2713": `$'it\'s\\\xc2\x9b\xe2\x9c\x93'`,
	} {
		rig.Equal(t, ShellQuote(word), want, "shellQuote(%q)", word)
		if strings.HasPrefix(want, "$'") {
			continue // not every sh knows it
		}
		out, err := exec.Command("sh", "-c", "printf %s. "+want).Output()
		rig.Check(t, err == nil && string(out) == word+".", "a shell reads %s as %q, %v", want, out, err)
	}
}

// What is pasted acts on the host that said it. Sentences about nbs-worker stay as they are.
func TestPasteableCommandsOfAHost(t *testing.T) {
	t.Parallel()
	tree := func(...string) *cobra.Command {
		root := &cobra.Command{Use: "nbs-worker"}
		root.AddCommand(&cobra.Command{Use: "list", Run: func(*cobra.Command, []string) {}}, &cobra.Command{Use: "host", Run: func(*cobra.Command, []string) {}})
		return root
	}
	f := &Factory{Streams: Streams{Host: "build1"}, Tree: tree}
	for text, want := range map[string]string{
		"hint: nbs-worker keeps its own files there; to use another folder: export XDG_STATE_HOME=/x": "",
		"hint: nbs-worker did not create this; look at it, then remove it: rm -r x":                   "",
		"hint: to see them: nbs-worker list":                                                          "hint: to see them: nbs-worker --host build1 list",
		"hint: nbs-worker list, nbs-worker --tmux-socket x list":                                      "hint: nbs-worker --host build1 list, nbs-worker --host build1 --tmux-socket x list",
		"hint: nbs-worker list; what nbs-worker list shows is all":                                    "hint: nbs-worker --host build1 list; what nbs-worker list shows is all",
		"hint: nbs-worker host check build1":                                                          "",
		"hint: nbs-worker help policy":                                                                "hint: nbs-worker --host build1 help policy",
	} {
		if want == "" {
			want = text
		}
		rig.Equal(t, f.Pasteable(text), want, "%q", text)
	}
}
