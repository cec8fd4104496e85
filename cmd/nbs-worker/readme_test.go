package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// The README is kept true: its commands run, its tables are the program's own.

var shBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rig.Root(t), "README.md"))
	rig.Must(t, err)
	return string(text)
}

func TestReadmeTourRuns(t *testing.T) {
	m := standIn(t)
	var tour string
	for _, block := range shBlock.FindAllStringSubmatch(readme(t), -1) {
		if strings.Contains(block[1], "nbs-worker spawn") {
			tour = block[1]
		}
	}
	if strings.Count(tour, "nbs-worker ") < 7 {
		t.Fatalf("the tour is gone: %q", tour)
	}
	for line := range strings.Lines(tour) {
		if strings.HasPrefix(line, "nbs-worker attach") {
			continue // takes a terminal: TestAttach
		}
		m.shell(line)
	}
}

func TestReadmeKnowsEveryVerb(t *testing.T) {
	m := standIn(t)
	text := readme(t)
	help := m.ok("--help")
	for _, match := range regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`).FindAllStringSubmatch(help, -1) {
		verb := match[1]
		m.check(verb == "help" || strings.Contains(text, "`"+verb), "the README does not name %s", verb)
	}
}

func TestReadmeHasThePublishedExitCodes(t *testing.T) {
	m := standIn(t)
	text := readme(t)
	rows := regexp.MustCompile(`(?m)^ +(\d+)  (.+)$`).FindAllStringSubmatch(m.ok("help", "exit-codes"), -1)
	if len(rows) < 10 {
		t.Fatalf("%d exit codes", len(rows))
	}
	for _, row := range rows {
		want := "| " + row[1] + " | " + row[2] + " |"
		m.check(strings.Contains(text, want), "the README has no row %s", want)
	}
}

func TestReadmeLinksLead(t *testing.T) {
	m := standIn(t)
	for _, match := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(readme(t), -1) {
		_, err := os.Stat(filepath.Join(rig.Root(m), match[1]))
		m.check(err == nil, "a link leads nowhere: %v", err)
	}
	makefile, err := os.ReadFile(filepath.Join(rig.Root(m), "Makefile"))
	m.must(err)
	for _, match := range regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(readme(t), -1) {
		if !regexp.MustCompile(`(?m)^` + match[1] + `:`).Match(makefile) {
			t.Errorf("make %s is no target", match[1])
		}
	}
}
