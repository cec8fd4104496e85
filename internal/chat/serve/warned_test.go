package serve

import (
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/sim/rig"
)

// The operator reads each of Claude's warnings once, however often a claude is started.
func TestAWarningIsReportedOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	s.Respond = func(_ int, text string) turn.Outcome {
		return turn.Outcome{Answer: "re: " + text, Warning: map[bool]string{true: "Ignoring 1 entry"}[text != "none"]}
	}
	s.serve()
	for _, text := range []string{"none", "one", "two"} {
		s.mustAnswer("review", text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	said := slices.DeleteFunc(slices.Clone(s.says), func(line string) bool { return !strings.Contains(line, "warns") })
	rig.Check(t, slices.Equal(said, []string{"Claude warns: Ignoring 1 entry"}), "it said %q", s.says)
}
