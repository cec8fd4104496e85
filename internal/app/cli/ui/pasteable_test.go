package ui

import (
	"os/exec"
	"strings"
	"testing"

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
