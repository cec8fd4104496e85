package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A text that a hook refuses is not taken up. A command in the background is reported at its beginning and its end, and
// then there is a turn about it whose result names its origin and no text; also when the input has ended before.
func streamBeside(t *testing.T, s *stage) {
	id := newID()
	r := s.stream(t, "--session-id", id, "--model", "sonnet", "--allowedTools", "Bash",
		"--settings", `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"! grep -q secret || { echo no secrets >&2; exit 2; }"}]}]}}`)
	r.says(t, "The secret is 7.")
	r.says(t, `[[tool Bash {"command":"sleep 1","description":"a nap","run_in_background":true}]]`)
	rig.WaitFor(t, "the answer", func() (bool, string) {
		text := r.stdout.String()
		return strings.Count(text, `"type":"result"`) >= 2, text
	})
	lines, code := r.ends(t)
	got := results(lines)
	if code != 0 || len(got) != 3 {
		t.Fatalf("code %d, %+v", code, lines)
	}
	refused := lines[slices.IndexFunc(lines, func(l streamLine) bool { return l.Prevents })]
	rig.Check(t, got[0].NumTurns == 0 && !got[0].IsError && got[0].Result == refused.Content && strings.Contains(refused.Content, "]: no secrets\n"), "refused: %+v, %+v", refused, got[0])
	rig.Check(t, strings.HasPrefix(got[1].Result, "Tool said: Command running in background") && got[1].Origin.Kind == "" && (got[1].OfMessage == r.uuids[1]) == !s.old, "the answer: %+v", got[1])
	rig.Check(t, strings.HasPrefix(got[2].Result, "You said:") && got[2].Origin.Kind == "task-notification" && got[2].OfMessage == "", "of its own: %+v", got[2])
	var beside []string
	for _, l := range lines {
		if l.TaskID != "" {
			beside = append(beside, fmt.Sprintf("%s %s %t", l.Subtype, l.Description, l.Patch.Ended > 0))
		}
	}
	rig.Same(t, "about the task", []string{"task_started a nap false", "task_updated  true", "task_notification  false"}, beside)
}
