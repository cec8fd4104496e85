package life

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

func TestReadmeKnowsEveryVerb(t *testing.T) {
	m := standIn(t)
	text := e2e.Readme(t)
	help := m.OK("--help")
	for _, match := range regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`).FindAllStringSubmatch(help, -1) {
		verb := match[1]
		m.Check(verb == "help" || strings.Contains(text, "`"+verb), "the README does not name %s", verb)
	}
}

func TestReadmeHasThePublishedExitCodes(t *testing.T) {
	m := standIn(t)
	text := e2e.Readme(t)
	rows := regexp.MustCompile(`(?m)^ +(\d+)  (.+)$`).FindAllStringSubmatch(m.OK("help", "exit-codes"), -1)
	if len(rows) < 10 {
		t.Fatalf("%d exit codes", len(rows))
	}
	for _, row := range rows {
		want := "| " + row[1] + " | " + row[2] + " |"
		m.Check(strings.Contains(text, want), "the README has no row %s", want)
	}
}

func TestReadmeLinksLead(t *testing.T) {
	m := standIn(t)
	for _, match := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(e2e.Readme(t), -1) {
		_, err := os.Stat(filepath.Join(rig.Root(m), match[1]))
		m.Check(err == nil, "a link leads nowhere: %v", err)
	}
	makefile, err := os.ReadFile(filepath.Join(rig.Root(m), "Makefile"))
	m.Must(err)
	for _, match := range regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(e2e.Readme(t), -1) {
		if !regexp.MustCompile(`(?m)^` + match[1] + `:`).Match(makefile) {
			t.Errorf("make %s is no target", match[1])
		}
	}
}
