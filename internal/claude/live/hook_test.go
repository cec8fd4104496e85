package live

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"

	"nbs-worker/internal/sim/rig"
)

const otherSession = agent.SessionID("5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")

// tell applies hooks one after the other, a second apart.
func tell(t *testing.T, payloads ...string) (report agent.Report) {
	t.Helper()
	for i, payload := range payloads {
		hook, err := ReadHook(strings.NewReader(`{"session_id":"` + string(sessionID) + `",` + payload + `}`))
		if err != nil {
			t.Fatalf("%s: %v", payload, err)
		}
		hook.Apply(&report, time.Unix(int64(i), 0))
	}
	return report
}

func TestWhatEachHookSays(t *testing.T) {
	t.Parallel()
	const asks = `"hook_event_name":"PermissionRequest","tool_name":"Bash"`
	for _, c := range []struct {
		told   []string
		state  agent.State
		detail string
	}{
		{[]string{`"hook_event_name":"SessionStart","source":"startup"`}, agent.Idle, ""},
		{[]string{`"hook_event_name":"UserPromptSubmit","prompt":"x"`}, agent.Busy, ""},
		{[]string{asks}, agent.Waiting, "permission prompt"},
		{[]string{`"hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion"`}, agent.Waiting, "input needed"},
		{[]string{asks, `"hook_event_name":"PostToolUse"`}, agent.Busy, ""},
		{[]string{asks, `"hook_event_name":"Notification","notification_type":"permission_prompt"`}, agent.Waiting, "permission prompt"},
		{[]string{asks, `"hook_event_name":"Notification","notification_type":"idle_prompt"`}, agent.Idle, ""},
		{[]string{`"hook_event_name":"Stop"`}, agent.Idle, ""},
		{[]string{`"hook_event_name":"PreCompact","trigger":"manual"`}, agent.Busy, "compacting"},
		{[]string{`"hook_event_name":"PreCompact"`, `"hook_event_name":"SessionStart","source":"compact"`}, agent.Busy, "compacting"},
		{[]string{`"hook_event_name":"PostCompact","trigger":"manual"`}, agent.Idle, ""},
		{[]string{`"hook_event_name":"PostCompact","trigger":"auto"`}, agent.Busy, ""},
		// Of a subagent, only that it asks, and that it was answered.
		{[]string{`"hook_event_name":"Stop"`, `"hook_event_name":"PostToolUse","agent_id":"a1"`}, agent.Idle, ""},
		{[]string{`"hook_event_name":"UserPromptSubmit"`, `"hook_event_name":"Stop","agent_id":"a1"`}, agent.Busy, ""},
		{[]string{`"hook_event_name":"UserPromptSubmit"`, asks + `,"agent_id":"a1"`}, agent.Waiting, "permission prompt"},
		{[]string{asks + `,"agent_id":"a1"`, `"hook_event_name":"PostToolUse","agent_id":"a1"`}, agent.Busy, ""},
		{[]string{asks + `,"agent_id":"a1"`, `"hook_event_name":"Stop","background_tasks":[{"type":"subagent"}]`}, agent.Waiting, "permission prompt"},
		{[]string{asks, `"hook_event_name":"Stop","background_tasks":[{"type":"shell"}]`}, agent.Idle, ""},
		{[]string{`"hook_event_name":"Stop"`, `"hook_event_name":"Later"`}, agent.Idle, ""},
	} {
		got := tell(t, c.told...)
		if got.Activity == nil || got.Activity.State != c.state || got.Activity.Detail != c.detail {
			t.Errorf("%q: %+v; want %s %q", c.told, got.Activity, c.state, c.detail)
		}
	}
}

func TestHooksTellHowTurnsAndClaudeEnd(t *testing.T) {
	t.Parallel()
	const failed = `"hook_event_name":"StopFailure","error":"rate_limit"`
	got := tell(t, failed)
	rig.Check(t, got.Failure != nil && got.Failure.Class == "rate_limit" && got.Activity.State == agent.Idle, "after a failure: %+v", got)
	got = tell(t, failed, `"hook_event_name":"Stop","agent_id":"a1"`)
	rig.Check(t, got.Failure != nil, "a subagent's turn took the agent's failure back: %+v", got)
	for what, next := range map[string]string{
		"another prompt": `"hook_event_name":"UserPromptSubmit"`, "another start": `"hook_event_name":"SessionStart","source":"resume"`,
		"a compaction": `"hook_event_name":"PostCompact","trigger":"manual"`,
	} {
		got := tell(t, failed, next)
		rig.Check(t, got.Failure == nil && got.Done.IsZero(), "after %s: %+v", what, got)
	}
	got = tell(t, failed, `"hook_event_name":"Notification","notification_type":"idle_prompt"`)
	rig.Check(t, got.Failure != nil, "a reminder makes a failed turn forgotten")
	got = tell(t, `"hook_event_name":"Stop"`, `"hook_event_name":"UserPromptSubmit"`)
	rig.Check(t, got.Done.IsZero(), "a turn that has begun is done: %+v", got)
	got = tell(t, `"hook_event_name":"Stop"`)
	rig.Check(t, !got.Done.IsZero(), "a turn that ended is not done: %+v", got)
	got = tell(t, failed, `"hook_event_name":"Stop"`)
	rig.Check(t, got.Failure == nil, "after a turn that went well: %+v", got.Failure)
	got = tell(t, `"hook_event_name":"SessionEnd","reason":"other"`)
	rig.Check(t, got.End != nil && got.End.Reason == "other", "after the end: %+v", got)
	for _, goesOn := range []string{"clear", "resume"} {
		got := tell(t, `"hook_event_name":"SessionEnd","reason":"`+goesOn+`"`)
		rig.Check(t, got.End == nil && got.SessionID == "", "after %s: %+v", goesOn, got)
	}
}

// A turn begins with the prompt to an idle claude. A message to a busy one belongs to the turn.
func TestWhenTheLastTurnBegan(t *testing.T) {
	t.Parallel()
	const prompt, stop = `"hook_event_name":"UserPromptSubmit"`, `"hook_event_name":"Stop"`
	for _, c := range []struct {
		told []string
		want int64 // second
	}{
		{[]string{stop, prompt}, 1}, {[]string{prompt, prompt, stop}, 0}, {[]string{prompt, `"hook_event_name":"PostToolUse"`, prompt, stop}, 0}, {[]string{prompt, stop, prompt}, 2},
		{[]string{prompt, `"hook_event_name":"PermissionRequest","tool_name":"Bash"`, prompt, stop}, 0}, {[]string{prompt, stop, prompt + `,"agent_id":"a1"`}, 0},
		{[]string{prompt, `"hook_event_name":"StopFailure"`, prompt}, 2},
	} {
		got := tell(t, c.told...)
		rig.Equal(t, got.Began.Unix(), c.want, "%q: the second in which it began", c.told)
	}
}

// Hooks run side by side: what comes late must not undo what came after it.
func TestOlderHookDoesNotUndoANewerOne(t *testing.T) {
	t.Parallel()
	report := tell(t, `"hook_event_name":"Stop"`, `"hook_event_name":"SessionStart","source":"clear"`)
	want := report
	late := Hook{hookCore: hookCore{Event: "UserPromptSubmit", SessionID: otherSession}}
	late.Apply(&report, time.Unix(0, 1))
	diff := cmp.Diff(want, report)
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
	id, _, moves := late.MovesTo(&report, time.Unix(0, 1))
	rig.Check(t, !moves, "it leads the agent back to %s", id)
}

func TestHookTellsWhereTheAgentWent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hook   Hook
		reason string // "": nowhere
	}{
		{Hook{hookCore: hookCore{Event: "SessionStart", Source: "clear"}}, "clear"},
		{Hook{hookCore: hookCore{Event: "SessionStart", Source: "fork", Title: "Remember 42. (Branch)"}}, "branch"},
		{Hook{hookCore: hookCore{Event: "SessionStart", Source: "resume", Title: "Remember 42. (Branch)"}}, "branch"},
		{Hook{hookCore: hookCore{Event: "SessionStart", Source: "resume"}}, "resume"},
		{Hook{hookCore: hookCore{Event: "UserPromptSubmit"}}, Moved},
		{Hook{hookCore: hookCore{Event: "UserPromptSubmit", Subagent: "a1"}}, ""},
		{Hook{hookCore: hookCore{Event: "SessionStart", Source: "startup"}}, ""},
		{Hook{hookCore: hookCore{Event: "SessionEnd", Reason: "clear"}}, ""},
		{Hook{hookCore: hookCore{Event: "Stop"}}, ""},
	} {
		var report agent.Report
		c.hook.SessionID = otherSession
		c.hook.Apply(&report, time.Unix(1, 0))
		id, reason, moves := c.hook.MovesTo(&report, time.Unix(1, 0))
		rig.Check(t, reason == c.reason && moves == (c.reason != "") && (!moves || id == otherSession), "%+v: %s, %q, %t; want %q", c.hook, id, reason, moves, c.reason)
	}
}

func TestReadHookRefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "x", "[]", "{}", `{"session_id":"x"}`, `{"session_id":"../../etc/passwd","hook_event_name":"Stop"}`,
		`{"session_id":7}`, strings.Repeat("[", 1<<20), strings.Repeat(" ", inputLimit+7),
	} {
		hook, err := ReadHook(strings.NewReader(text))
		rig.Check(t, err != nil, "ReadHook(%.40q) = %+v", text, hook)
	}
}

// A field that a later version of Claude says otherwise does not hide what else is said.
func TestHookWithAFieldOfAnotherType(t *testing.T) {
	t.Parallel()
	hook, err := ReadHook(strings.NewReader(`{"background_tasks":{"count":0},"error":{"class":"x"},"session_id":"` + string(otherSession) + `","hook_event_name":"SessionStart","source":"clear"}`))
	rig.Check(t, err == nil && hook.SessionID == otherSession && hook.Event == "SessionStart" && hook.Source == "clear", "%+v, %v", hook, err)
}

func TestWhatAHookSaysIsSafeToShow(t *testing.T) {
	t.Parallel()
	report := tell(t, `"hook_event_name":"StopFailure","error":"\u001b[31mred\u202e`+strings.Repeat("x", 1000)+`"`)
	class := report.Failure.Class
	rig.Check(t, len(class) <= 64 && !strings.ContainsAny(class, "\x1b\u202e"), "class %q", class)
}

func TestGauge(t *testing.T) {
	t.Parallel()
	percent := func(n int) *int { return &n }
	for text, want := range map[string]agent.Gauge{
		`{}`: {},
		`{"cost":{"total_cost_usd":0.5},"context_window":{"context_window_size":200000,"current_usage":null,"used_percentage":null}}`: {Window: 200000, CostUSD: 0.5},
		`{"context_window":{"context_window_size":200000,"used_percentage":16,"current_usage":{"input_tokens":10,"output_tokens":9,
		"cache_creation_input_tokens":32067,"cache_read_input_tokens":5}}}`: {Window: 200000, Tokens: 32082, UsedPercent: percent(16)},
		`{"cost":{"total_cost_usd":-1},"context_window":{"context_window_size":-5,"used_percentage":1e9}}`: {UsedPercent: percent(100)},
	} {
		line, err := ReadStatusLine(strings.NewReader(text))
		diff := cmp.Diff(want, line.Gauge(time.Time{}))
		rig.Check(t, diff == "" && err == nil && string(line.Text) == text, "%s: %v, -want +got:\n%s", text, err, diff)
	}
}

// Numbers that cannot be would be summed up to less than nothing, and fill a line of the table.
func TestStatusLineWithNumbersThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"cost":{"total_cost_usd":1e308},"context_window":{"context_window_size":200000}}`,
		`{"context_window":{"context_window_size":200000,"used_percentage":5,"current_usage":{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807}}}`,
		`{"context_window":{"context_window_size":9223372036854775807}}`,
	} {
		line, err := ReadStatusLine(strings.NewReader(text))
		rig.Check(t, err != nil, "%s: %+v", text, line)
	}
}

func FuzzReadHook(f *testing.F) {
	f.Add(`{"session_id":"` + string(sessionID) + `","hook_event_name":"Stop"}`)
	f.Add(`{"context_window":{"used_percentage":1e400}}`)
	f.Fuzz(func(t *testing.T, text string) {
		hook, err := ReadHook(strings.NewReader(text))
		if err == nil {
			var report agent.Report
			hook.Apply(&report, time.Unix(1, 0))
			_, err := agent.ParseSessionID(string(hook.SessionID))
			rig.Check(t, err == nil, "%q", hook.SessionID)
		}
		if line, err := ReadStatusLine(strings.NewReader(text)); err == nil {
			line.Gauge(time.Time{})
			line.Limits(time.Unix(1, 0))
			line.PullRequest()
			line.Worktree()
		}
	})
}

// What a claude that is killed was just writing ends too early, which is told apart from what cannot be understood.
func TestInputThatIsCutShort(t *testing.T) {
	t.Parallel()
	for text, cut := range map[string]bool{"": true, `{"hook_ev`: true, `{"session_id":"x"`: true, `{"cost":{`: true, `{]}`: false, `[]`: false} {
		_, hook := ReadHook(strings.NewReader(text))
		_, line := ReadStatusLine(strings.NewReader(text))
		for what, err := range map[string]error{"hook": hook, "status line": line} {
			rig.Check(t, err != nil && errors.Is(err, io.ErrUnexpectedEOF) == cut, "%s %q: %v", what, text, err)
		}
	}
}

// What was said last stays until more is said in the same conversation; a text is kept in one line, and cut.
func TestHooksTellWhatWasSaidLast(t *testing.T) {
	t.Parallel()
	const prompt, said = `"hook_event_name":"UserPromptSubmit","prompt":"Fix\n the  login"`, `"hook_event_name":"Stop","last_assistant_message":"Fixed.\n\nThree tests added."`
	long := strings.Repeat("é", agent.WordsLimit)
	for name, c := range map[string]struct {
		told []string
		want *agent.Words
	}{
		"nothing":            {[]string{`"hook_event_name":"SessionStart"`}, nil},
		"a prompt":           {[]string{prompt}, &agent.Words{Prompt: "Fix the login"}},
		"an answer":          {[]string{prompt, said}, &agent.Words{Prompt: "Fix the login", Said: "Fixed. Three tests added."}},
		"the next prompt":    {[]string{prompt, said, `"hook_event_name":"UserPromptSubmit","prompt":"more"`}, &agent.Words{Prompt: "more", Said: "Fixed. Three tests added."}},
		"a prompt of Claude": {[]string{prompt, `"hook_event_name":"UserPromptSubmit","prompt":"<task-notification>x"`}, &agent.Words{Prompt: "Fix the login"}},
		"of a subagent":      {[]string{prompt, `"hook_event_name":"Stop","agent_id":"a1","last_assistant_message":"x"`}, &agent.Words{Prompt: "Fix the login"}},
		"a failed turn":      {[]string{prompt, said, `"hook_event_name":"StopFailure","error":"rate_limit","last_assistant_message":"limit"`}, &agent.Words{Prompt: "Fix the login", Said: "Fixed. Three tests added."}},
		"a long one":         {[]string{`"hook_event_name":"UserPromptSubmit","prompt":"` + long + `"`}, &agent.Words{Prompt: long[:agent.WordsLimit-4] + "…"}},
	} {
		if c.want != nil {
			c.want.SessionID = sessionID
		}
		got := tell(t, c.told...)
		rig.Check(t, cmp.Equal(got.Words, c.want), "%s: %+v; want %+v", name, got.Words, c.want)
	}
	report := tell(t, prompt, said)
	Hook{hookCore: hookCore{Event: "SessionStart", Source: "clear", SessionID: otherSession}}.Apply(&report, time.Unix(9, 0))
	rig.Check(t, report.Words == nil, "another conversation began with %+v", report.Words)
}
