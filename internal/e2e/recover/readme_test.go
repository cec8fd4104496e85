package recover

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// The README is kept true: its commands run.

var shBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

func TestReadmeToursRun(t *testing.T) {
	tours := 0
	for _, block := range shBlock.FindAllStringSubmatch(e2e.Readme(t), -1) {
		if !strings.Contains(block[1], "nbs-worker spawn") {
			continue
		}
		tours++
		t.Run(strconv.Itoa(tours), func(t *testing.T) {
			m := standIn(t)
			for line := range strings.Lines(block[1]) {
				if !strings.HasPrefix(line, "nbs-worker attach") { // it takes a terminal: TestAttach
					m.Shell(line)
				}
			}
		})
	}
	if tours != 2 {
		t.Fatalf("%d tours", tours)
	}
}
