package agent_test

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// A text cannot end the frame in which it stands.
func TestFrameIsNotEndedByItsText(t *testing.T) {
	t.Parallel()
	inner := agent.Frame("notes", "one\ntwo")
	head, rest, _ := strings.Cut(inner, "\n")
	rig.Check(t, strings.HasPrefix(head, "<notes ") && rest == "one\ntwo\n</"+head[1:]+"\n", "%q", inner)
	outer := agent.Frame("notes", inner)
	outerHead, _, _ := strings.Cut(outer, "\n")
	rig.Check(t, outerHead != head && strings.Count(outer, "</"+outerHead[1:]) == 1, "%q", outer)
}
