package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nbs-worker/internal/app/cli"
	"nbs-worker/internal/sim/rig"
)

func TestPageForEachCommand(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "0")
	dir := filepath.Join(t.TempDir(), "man")
	rig.Must(t, generate(dir))
	for _, cmd := range cli.Tree().Commands() {
		if cmd.Hidden || cmd.Name() == "help" {
			continue
		}
		t.Run(cmd.Name(), func(t *testing.T) { checkPage(t, dir, cmd) })
	}
}

// In a terminal of 80 columns man shows 73 of a line that it may not break.
func TestPagesFitATerminal(t *testing.T) {
	dir := t.TempDir()
	rig.Must(t, generate(dir))
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	rig.Must(t, err)
	for _, page := range pages {
		if strings.Contains(page, "nbs-worker-completion-") {
			continue // by cobra
		}
		data, err := os.ReadFile(page)
		rig.Must(t, err)
		asIs := false
		for line := range strings.Lines(string(data)) {
			asIs = line == ".EX\n" || asIs && line != ".EE\n"
			rig.Check(t, !asIs || len(strings.ReplaceAll(strings.TrimSpace(line), "\\", "")) <= 73, "%s: %q", filepath.Base(page), line)
		}
	}
}

func checkPage(t *testing.T, dir string, cmd *cobra.Command) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "nbs-worker-"+cmd.Name()+".1"))
	rig.Must(t, err)
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
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden { // what --help only names is explained here
			wanted = append(wanted, "--"+flag.Name, flag.Usage)
		}
	})
	for _, want := range wanted {
		rig.Check(t, strings.Contains(strings.ReplaceAll(page, `\-`, "-"), want), "the page lacks %q", want)
	}
}

// The verbs on which scripts depend have their exit codes in their pages.
func TestVerbsHaveExitCodes(t *testing.T) {
	dir := t.TempDir()
	rig.Must(t, generate(dir))
	for _, verb := range []string{"spawn", "resume", "session", "list", "stop", "dismiss", "attach", "run", "exit-codes"} {
		page, err := os.ReadFile(filepath.Join(dir, "nbs-worker-"+verb+".1"))
		rig.Check(t, err == nil && strings.Contains(string(page), "  0  done, and observed\n"), "%s: no exit codes as a table (%v)", verb, err)
	}
}

func TestMarkdown(t *testing.T) {
	got := markdown("Reads <file>.\nList:\n  a_b  c\n\nEnd.\n")
	want := "Reads \\<file>.\nList:\n\n    a_b  c\n\n\nEnd.\n"
	rig.Equal(t, got, want, "got")
}

// A capture behind a numbered step stays as it is, line by line, and the numbers go on behind it.
func TestStepsWithCaptures(t *testing.T) {
	dir := t.TempDir()
	rig.Must(t, generate(dir))
	page, err := os.ReadFile(filepath.Join(dir, "nbs-worker-bot.1"))
	rig.Must(t, err)
	text := strings.NewReplacer(`\&`, "", `\`, "").Replace(string(page))
	for _, want := range []string{"\n.EX\n$ nbs-worker serve setup telegram\nA bot is made in Telegram: ", "\n4. A look.", "\n7. In the morning."} {
		rig.Check(t, strings.Contains(text, want), "the page lacks %q", want)
	}
	got := markdown("1. A step:\n\n  $ command\n  what it prints\n\n2. Another.\n")
	rig.Equal(t, got, "1\\. A step:\n\n\n    $ command\n    what it prints\n\n\n2\\. Another.\n", "the Markdown")
}

// The commands in cobra's texts, behind a tab, can be pasted from the pages.
func TestCommandsBehindATab(t *testing.T) {
	got := markdown("Do:\n\n\tsource <(nbs-worker completion bash)\n\nEnd.\n")
	rig.Equal(t, got, "Do:\n\n\n    source <(nbs-worker completion bash)\n\n\nEnd.\n", "the Markdown")
	dir := t.TempDir()
	rig.Must(t, writeMarkdown(dir))
	page, err := os.ReadFile(filepath.Join(dir, "completion.md"))
	rig.Check(t, err == nil && strings.Contains(string(page), "\n    source <(nbs-worker completion bash)\n") && !strings.Contains(string(page), "\t"), "the page is %s, %v", page, err)
}

// The Markdown pages are those of the present help. To write them again: go generate ./internal/app/cli/mangen.
func TestMarkdownPagesAreUpToDate(t *testing.T) {
	dir := t.TempDir()
	rig.Must(t, writeMarkdown(dir))
	kept := filepath.Join(rig.Root(t), "internal/app/cli/docs")
	for _, folder := range []string{dir, kept} {
		pages, err := filepath.Glob(filepath.Join(folder, "*"))
		rig.Check(t, err == nil && len(pages) > 60, "%d pages, %v", len(pages), err)
		for _, page := range pages {
			is, err := os.ReadFile(filepath.Join(kept, filepath.Base(page)))
			want, missing := os.ReadFile(filepath.Join(dir, filepath.Base(page)))
			rig.Check(t, err == nil && missing == nil && string(is) == string(want), "%s is not up to date: go generate ./internal/app/cli/mangen (%v)", page, err)
		}
	}
}

func TestPageOfAVerbInMarkdown(t *testing.T) {
	dir := t.TempDir()
	rig.Must(t, writeMarkdown(dir))
	for name, wants := range map[string][]string{
		"spawn":  {"# nbs-worker spawn\n", "\n## Details\n", "\n## Exit codes\n", "\n    nbs-worker spawn <handle>", "[nbs-worker help worktrees](worktrees.md)", "--session-id string"},
		"memory": {"# nbs-worker memory\n", "\n## nbs-worker memory search\n", "\n### Flags\n"},
		"README": {"- [spawn](spawn.md): ", "- [restarts](restarts.md): ", "--tmux-socket string"},
	} {
		page, err := os.ReadFile(filepath.Join(dir, name+".md"))
		rig.Must(t, err)
		for _, want := range wants {
			rig.Check(t, strings.Contains(string(page), want), "%s.md does not hold %q:\n%s", name, want, page)
		}
	}
}
