package recover

import (
	"regexp"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// The README is kept true: its commands run, its tables are the program's own.

var shBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

func TestReadmeTourRuns(t *testing.T) {
	m := standIn(t)
	var tour string
	for _, block := range shBlock.FindAllStringSubmatch(e2e.Readme(t), -1) {
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
		m.Shell(line)
	}
}
