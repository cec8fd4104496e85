package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"nbs-worker/internal/cli"
)

func TestPageForEachCommand(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "0")
	dir := filepath.Join(t.TempDir(), "man")
	if err := generate(dir); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range cli.Tree().Commands() {
		if cmd.Hidden || cmd.Name() == "help" {
			continue
		}
		t.Run(cmd.Name(), func(t *testing.T) { checkPage(t, dir, cmd) })
	}
}

func checkPage(t *testing.T, dir string, cmd *cobra.Command) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "nbs-worker-"+cmd.Name()+".1"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	wanted := []string{`"Jan 1970"`}
	if _, codes, ok := strings.Cut(cmd.Long, "\nExit codes:\n"); ok {
		for line := range strings.Lines(codes) {
			wanted = append(wanted, strings.TrimSpace(line))
		}
	}
	if strings.Contains(cmd.Use, "<handle>") {
		wanted = append(wanted, "<handle>")
	}
	for _, want := range wanted {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// The verbs on which scripts depend have their exit codes in their pages.
func TestVerbsHaveExitCodes(t *testing.T) {
	dir := t.TempDir()
	if err := generate(dir); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"spawn", "resume", "session", "list", "stop", "dismiss", "attach", "run", "exit-codes"} {
		page, err := os.ReadFile(filepath.Join(dir, "nbs-worker-"+verb+".1"))
		if err != nil || !strings.Contains(string(page), "  0  done, and observed\n") {
			t.Errorf("%s: no exit codes as a table (%v)", verb, err)
		}
	}
}

func TestMarkdown(t *testing.T) {
	got := markdown("Reads <file>.\nList:\n  a_b  c\n\nEnd.\n")
	want := "Reads \\<file>.\nList:\n\n    a_b  c\n\n\nEnd.\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
