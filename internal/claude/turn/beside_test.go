package turn

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// heardAll is what a claude's captured output of one turn, and of what claude did beside it, amounts to.
type heardAll struct {
	Class     Class
	Answer    string
	Detail    string
	Parts     string // of the answer
	Spoken    []string
	Tasks     []string // that still ran
	Later     bool
	Lost      bool
	CostKnown bool
}

type closed struct{ is bool }

func (*closed) Write(p []byte) (int, error) { return len(p), nil }

func (c *closed) Close() error {
	c.is = true
	return nil
}

// hearAll plays a captured output to a claude for one turn.
func hearAll(t *testing.T, captured string) (heardAll, *closed) {
	t.Helper()
	data, err := os.ReadFile(captured)
	rig.Must(t, err)
	stdout, _, _ := strings.Cut(strings.TrimPrefix(string(data), "-- stdout --\n"), "-- stderr --\n")
	var got heardAll
	stdin := &closed{}
	p := &Process{ended: make(chan struct{}), once: true, stdin: stdin, spoke: func(s Spoken) { got.Spoken = append(got.Spoken, s.Answer) }}
	p.turn = &listener{over: make(chan struct{}), heard: func(e Event) { got.Parts += e.Text }}
	for text := range strings.Lines(stdout) {
		var l line
		rig.Must(t, json.Unmarshal([]byte(text), &l))
		if l.CommandUUID != "" {
			p.turn.id = l.CommandUUID
		} else if l.IsReplay && l.Origin.Kind == "" && !strings.Contains(text, "<task-notification>") {
			p.turn.id = l.UUID
		}
	}
	for text := range strings.Lines(stdout) {
		p.hear([]byte(text))
	}
	o := p.turn.end.outcome()
	got.Class, got.Answer, got.Detail, got.CostKnown = o.Class, o.Answer, o.Detail, p.turn.end.cost != nil
	beside := p.Beside()
	got.Tasks, got.Later, got.Lost = beside.Tasks, beside.Later, beside.Lost
	return got, stdin
}

// A result is of the turn that it is about, as both versions show in captured outputs: a turn that claude began by itself
// never answers a text, whether it comes before that text's own or after it.
func TestWhatClaudeDoesBesideATurn(t *testing.T) {
	t.Parallel()
	const begun = "Tool said: Command running in background with ID: "
	own := map[string]string{rig.Oldest: "You said: <task-notification>", rig.Newest: "You said: "}
	cases := map[string]struct {
		class  Class
		answer string // its beginning
		detail string
		spoken int
		later  bool
	}{
		"after-ended-task":      {answer: "You said: hello second"},
		"within-own-turn":       {answer: "You said: hello second", spoken: 1},
		"task-ends-within":      {answer: "You said: hello second", spoken: 1},
		"task-ends-before-tool": {answer: "Tool said: (Bash completed"},
		"task":                  {answer: begun, spoken: 1, later: true},
		"command":               {answer: "/exit isn't available"},
		"blocked":               {class: Blocked, detail: "no secrets here"},
		"blocked-json":          {class: Blocked, detail: "json says no"},
		"blocked-stop":          {class: Blocked, detail: "stop says no"},
	}
	for version, words := range own {
		for name, want := range cases {
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				got, stdin := hearAll(t, filepath.Join("testdata", "beside", version, name+".txtar"))
				rig.Equal(t, got.Class, want.class, "class")
				rig.Check(t, strings.HasPrefix(got.Answer, want.answer) && (got.Answer == "") == (want.answer == ""), "answer %q", got.Answer)
				rig.Equal(t, got.Detail, want.detail, "reason")
				rig.Equal(t, len(got.Spoken), want.spoken, "words of its own: %q", got.Spoken)
				for _, said := range got.Spoken {
					rig.Check(t, strings.HasPrefix(said, words), "its own words: %q", said)
				}
				rig.Check(t, len(got.Tasks) == 0 && stdin.is && got.CostKnown, "%+v, input closed: %t", got, stdin.is)
				rig.Equal(t, got.Lost, name == "after-ended-task", "a task was ended with the claude before")
				// Up to 2.1.197 a command that runs for a while looks like one in the background.
				rig.Check(t, got.Later == want.later || version == rig.Oldest && name == "task-ends-before-tool", "later: %t", got.Later)
			})
		}
	}
}

// The input of a claude for one turn stays open while a background task runs: it would be ended.
func TestInputStaysOpenForBackgroundTasks(t *testing.T) {
	t.Parallel()
	stdin := &closed{}
	p := &Process{ended: make(chan struct{}), once: true, stdin: stdin}
	p.turn = &listener{id: "ours", over: make(chan struct{})}
	for _, step := range []struct {
		line  string
		tasks string
		open  bool
	}{
		{`{"type":"system","subtype":"init","session_id":"s"}`, "", true},
		{`{"type":"system","subtype":"task_started","task_id":"f","description":"in front","is_backgrounded":false}`, "", true},
		{`{"type":"system","subtype":"task_started","task_id":"a","description":"sleep 9","is_backgrounded":true}`, "sleep 9", true},
		{`{"type":"system","subtype":"task_started","task_id":"b","description":"serve"}`, "sleep 9, serve", true},
		{`{"type":"system","subtype":"task_updated","task_id":"a","patch":{"status":"running"}}`, "sleep 9, serve", true},
		{`{"type":"result","subtype":"success","num_turns":2,"result":"begun","user_message_uuid":"ours"}`, "sleep 9, serve", true},
		{`{"type":"system","subtype":"task_updated","task_id":"a","patch":{"status":"completed","end_time":1795715342138}}`, "serve", true},
		{`{"type":"system","subtype":"task_notification","task_id":"unknown","status":"stopped"}`, "serve", true},
		{`{"type":"system","subtype":"task_notification","task_id":"b","status":"completed"}`, "", false},
	} {
		p.hear([]byte(step.line))
		rig.Equal(t, strings.Join(p.Beside().Tasks, ", "), step.tasks, "tasks after %s", step.line)
		rig.Equal(t, stdin.is, !step.open, "input closed after %s", step.line)
	}
}

// While claude speaks by itself, its parts are not parts of the answer to the text that waits.
func TestPartsOfAnotherTurn(t *testing.T) {
	t.Parallel()
	const part = `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"TEXT"}}}`
	delta := func(text string) string { return strings.Replace(part, "TEXT", text, 1) }
	for version, lines := range map[string][]string{
		rig.Newest: {
			`{"type":"system","subtype":"task_notification","task_id":"a","status":"completed"}`,
			`{"type":"command_lifecycle","command_uuid":"ours","state":"queued"}`,
			`{"type":"system","subtype":"init"}`, delta("theirs"),
			`{"type":"result","num_turns":1,"result":"theirs","origin":{"kind":"task-notification"}}`,
			`{"type":"system","subtype":"init"}`,
			`{"type":"user","isReplay":true,"uuid":"ours"}`, delta("ours"),
		},
		rig.Oldest: {
			`{"type":"system","subtype":"task_notification","task_id":"a","status":"completed"}`,
			`{"type":"system","subtype":"init"}`, delta("theirs"),
			`{"type":"result","num_turns":1,"result":"theirs","origin":{"kind":"task-notification"}}`,
			`{"type":"system","subtype":"init"}`, delta("ours"),
			`{"type":"user","isReplay":true,"uuid":"ours"}`,
		},
	} {
		said := ""
		p := &Process{ended: make(chan struct{}), stdin: &closed{}}
		p.turn = &listener{id: "ours", over: make(chan struct{}), heard: func(e Event) { said += e.Text }}
		for _, line := range lines {
			p.hear([]byte(line))
		}
		rig.Equal(t, said, "ours", "parts of the answer, %s", version)
	}
}

// A tool that claude uses while it speaks by itself is not one of the turn that waits, but a sign of life while it runs.
func TestToolsOfAnotherTurn(t *testing.T) {
	t.Parallel()
	const uses = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"NAME","name":"NAME","input":{"command":"ls"}}]}}`
	activity, seen := NewActivity(), ""
	p := &Process{ended: make(chan struct{}), stdin: &closed{}}
	p.turn = &listener{id: "ours", over: make(chan struct{}), heard: func(e Event) {
		activity.Note(e)
		seen += e.Tool + e.Text
	}}
	hear := func(lines ...string) {
		for _, line := range lines {
			p.hear([]byte(line))
		}
	}
	hear(`{"type":"system","subtype":"task_notification","task_id":"a","status":"completed"}`, `{"type":"system","subtype":"init"}`,
		strings.ReplaceAll(uses, "NAME", "Bash"))
	began := time.Now()
	rig.Check(t, seen == "" && len(activity.Acted()) == 0, "%q, %q", seen, activity.Acted())
	rig.Check(t, !activity.SilentSince().Before(began), "a tool that runs is silent")
	hear(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"Bash","content":"x"}]}}`,
		`{"type":"result","num_turns":1,"result":"theirs","origin":{"kind":"task-notification"}}`, `{"type":"system","subtype":"init"}`,
		strings.ReplaceAll(uses, "NAME", "Read"))
	rig.Same(t, "what acted", []string{"Read"}, activity.Acted())
}

// A turn of claude's own without a word is heard of if it cost something.
func TestTheCostOfATurnWithoutAWord(t *testing.T) {
	t.Parallel()
	var costs []float64
	p := &Process{ended: make(chan struct{}), stdin: &closed{}, spoke: func(s Spoken) { costs = append(costs, *s.CostUSD) }}
	for _, total := range []string{"0", "0.25", "0.25"} {
		p.hear([]byte(`{"type":"result","subtype":"success","num_turns":1,"result":"","origin":{"kind":"task-notification"},"total_cost_usd":` + total + `}`))
	}
	rig.Same(t, "costs", []float64{0.25}, costs)
}
