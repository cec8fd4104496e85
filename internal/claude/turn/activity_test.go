package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/sim/rig"
)

// While the API refuses claude it gives no sign of life, however often it asks again; a tool that runs is one all the
// time, and one that was not permitted has done nothing.
func TestActivityOfClaude(t *testing.T) {
	s := eachVersion(t)
	s.env = nil // so that it asks again
	p := s.start(Spec{SessionID: newID(), Opening: cmdline.OpenNew, Model: "sonnet", Partial: true, PermissionMode: "default"})
	activity := NewActivity()
	var mu sync.Mutex
	var silent []time.Time // since when, at each refusal
	refused := make(chan Refusals, 100)
	follow := func(e Event) {
		activity.Note(e)
		if e.Kind == Refused {
			mu.Lock()
			silent = append(silent, activity.SilentSince())
			mu.Unlock()
			refused <- activity.Refusals()
		}
	}
	_, err := p.Turn(rig.Patient(t), uuid.NewString(), "[[error 529 times=2]] hello", follow)
	rig.Must(t, err)
	rig.Same(t, "the first refusal", Refusals{1, 529}, <-refused)
	rig.Same(t, "the second refusal", Refusals{2, 529}, <-refused)
	rig.Check(t, silent[0].Equal(silent[1]), "a refusal is a sign of life: %v", silent)
	rig.Check(t, activity.Refusals() == Refusals{} && activity.SilentSince().After(silent[1]), "an answer is no sign of life")

	_, err = p.Turn(rig.Patient(t), uuid.NewString(), `[[tool Write {"file_path":"`+s.world.Project+`/denied","content":"x"}]]`, activity.Note)
	rig.Must(t, err)
	rig.Check(t, len(activity.Acted()) == 0, "it was not permitted: %q", activity.Acted())

	ctx, cancel := context.WithCancel(t.Context())
	runs, purpose := time.Time{}, ""
	_, _ = p.Turn(ctx, uuid.NewString(), `[[tool Bash {"command":"while :; do sleep 0.1; done","description":"waits"}]]`, func(e Event) {
		activity.Note(e)
		if e.Kind == ToolBegan && runs.IsZero() {
			runs, purpose = time.Now(), e.Text
			cancel()
		}
	})
	rig.Check(t, !activity.SilentSince().Before(runs), "a tool that runs is silent")
	rig.Same(t, "what acted", []string{"Bash"}, activity.Acted())
	rig.Equal(t, purpose, "while :; do sleep 0.1; done", "what the tool is used for")
}

func TestWhatAToolIsUsedFor(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"description":"Test","command":"npm test"}`: "npm test",
		`{"file_path":"/a/b","content":"x"}`:          "/a/b",
		`{"file_path":7,"odd":"x"}`:                   "",
		`"x"`:                                         "",
	} {
		rig.Equal(t, purpose(json.RawMessage(input)), want, "%s", input)
	}
}

// What the lines of tools show, as both versions print them.
func TestToolsInLines(t *testing.T) {
	t.Parallel()
	activity := NewActivity()
	for _, text := range []string{
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash"}]}}`,
		`{"type":"assistant","parent_tool_use_id":"1","message":{"content":[{"type":"tool_use","id":"2","name":"Write"},{"type":"tool_use","id":"3","name":"Edit"}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"ran"}]},{"type":"tool_result","tool_use_id":"2","is_error":true,"content":"exit code 1"}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"3","is_error":true,"content":"<tool_use_error>no such file"}]}}`,
		`{"type":"user","isReplay":true,"message":{"content":"a text"}}`,
		`{"type":"rate_limit_event"}`,
	} {
		activity.noteLine(t, text)
	}
	rig.Same(t, "what acted", []string{"Bash", "Write"}, activity.Acted())
	rig.Check(t, activity.SilentSince().Before(time.Now()), "a tool still runs")
}

func (a *Activity) noteLine(t *testing.T, text string) {
	t.Helper()
	var l line
	rig.Check(t, decode([]byte(text), &l), "%s", text)
	for _, e := range signs(&l, []byte(text)) {
		a.Note(e)
	}
}

// A tool whose result never comes, because the stream broke off behind it, does not run for ever: it has ended when the
// model says something else. Tools of one message run together, and beside those of a subagent.
func TestAToolWithoutAResultHasEnded(t *testing.T) {
	t.Parallel()
	activity := NewActivity()
	uses := func(message, tool, parent string) {
		activity.noteLine(t, fmt.Sprintf(`{"type":"assistant","parent_tool_use_id":%q,"message":{"id":%q,"content":[{"type":"tool_use","id":%q,"name":"Bash"}]}}`, parent, message, tool))
	}
	runs := func() bool {
		now := time.Now()
		return !activity.SilentSince().Before(now)
	}
	ends := func(tool string) {
		activity.noteLine(t, fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q}]}}`, tool))
	}
	uses("1", "lost", "")
	uses("1", "a", "")
	uses("2", "b", "a")
	ends("b")
	rig.Check(t, runs(), "the tools of the first message have ended")
	ends("a")
	rig.Check(t, runs(), "its result has not come, and nothing else was said")
	activity.noteLine(t, `{"type":"assistant","message":{"id":"3","content":[{"type":"text","text":"Again."}]}}`)
	rig.Check(t, !runs(), "it still runs")
}
