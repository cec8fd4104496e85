package live

import (
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

func TestADialogIsOverWhenItHasNotBeenShownForAWhile(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	var d Dialog
	for i, c := range []struct {
		status string
		at     time.Duration
		over   bool
	}{
		{StatusBusy, 0, false}, {StatusBusy, time.Minute, false}, // it was not shown yet
		{StatusWaiting, time.Minute, false}, {StatusBusy, 61 * time.Second, false},
		{StatusWaiting, 61500 * time.Millisecond, false}, // it was between two
		{StatusIdle, 70 * time.Second, false}, {StatusIdle, 71 * time.Second, true},
	} {
		at := begun.Add(c.at)
		d.See(c.status, at)
		over, _ := d.Over(at)
		rig.Equal(t, over, c.over, "step %d", i)
	}
	d.Forget()
	over, again := d.Over(begun.Add(time.Hour))
	rig.Check(t, !over && again == 0 && !d.Doubtful(), "what was forgotten counts")
}

func TestDecisionForClaude(t *testing.T) {
	t.Parallel()
	const begin = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`
	for _, c := range []struct {
		said Decision
		want string
	}{
		{Decision{Allow: true}, `{"behavior":"allow"}}}`},
		{Decision{Message: `use "mkdir"`}, `{"behavior":"deny","message":"use \"mkdir\""}}}`},
		{Decision{}, `{"behavior":"deny","message":"` + refused + `"}}}`},
		{Decision{Allow: true, Input: []byte(`{"answers":{"So?":"L"}}`)}, `{"behavior":"allow","updatedInput":{"answers":{"So?":"L"}}}}}`},
		{Decision{Allow: true, Rules: []byte(`[{"type":"setMode"}]`)}, `{"behavior":"allow","updatedPermissions":[{"type":"setMode"}]}}}`},
	} {
		text, err := c.said.JSON()
		rig.Check(t, err == nil && text == begin+c.want, "%s, %v", text, err)
	}
	text, err := Decision{Allow: true}.For("ExitPlanMode", []byte(`{}`)).JSON()
	rig.Check(t, err == nil && text == begin+`{"behavior":"allow","updatedInput":{}}}}`, "a plan: %s, %v", text, err)
	_, err = Decision{Allow: true, Input: []byte(`{`)}.JSON()
	rig.Check(t, err != nil, "half an input is handed over")
}

func TestTheEndOfAToolCallIsRecognisedByItsInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event, tool, input, asked string
		want                      bool
	}{
		{"PostToolUse", "Bash", `{"command":"ls", "a":1}`, `{"a":1,"command":"ls"}`, true},
		{"PostToolUseFailure", "Bash", `{"command":"ls"}`, `{"command":"ls"}`, true},
		{"PostToolUse", "Bash", `{"command":"ls"}`, `{"command":"rm"}`, false},
		{"PreToolUse", "Bash", `{"command":"ls"}`, `{"command":"ls"}`, false},
		{"PostToolUse", "AskUserQuestion", `{"questions":[1],"answers":{}}`, `{"questions":[1]}`, true},
		{"PostToolUse", "AskUserQuestion", `{"questions":[2],"answers":{}}`, `{"questions":[1]}`, false},
	} {
		h := Hook{hookCore: hookCore{Event: c.event}, Tool: c.tool, Input: []byte(c.input)}
		rig.Equal(t, h.Ends(c.tool, []byte(c.asked)), c.want, "%s %s", c.event, c.input)
	}
}
