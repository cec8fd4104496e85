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

// seenOn is the newer version whose transcripts and outcomes are in testdata.
const seenOn = "2.1.329"

// replayed is the outcome of a turn whose output was captured: what claude said on stdout and stderr, and how it ended.
func replayed(t *testing.T, captured string) Outcome {
	t.Helper()
	data, err := os.ReadFile(captured)
	rig.Must(t, err)
	stdout, rest, _ := strings.Cut(strings.TrimPrefix(string(data), "-- stdout --\n"), "-- stderr --\n")
	stderr, exit, _ := strings.Cut(rest, "-- exit --\n")
	var lines []line
	heard := &listener{over: make(chan struct{})}
	for text := range strings.Lines(stdout) {
		var l line
		rig.Must(t, json.Unmarshal([]byte(text), &l))
		if l.IsReplay {
			heard.id = l.UUID
		}
		lines = append(lines, l)
	}
	beside := &beside{}
	for _, l := range lines {
		beside.line(l)
		heard.line(l, beside.own)
	}
	heard.end.stderr, heard.end.exit, heard.end.now = stderr, strings.TrimSpace(exit), time.Now()
	return heard.end.outcome()
}

func TestOutcomes(t *testing.T) {
	cases := map[string]struct {
		class  Class
		answer string
		detail string // a part of it
		status int
	}{
		"answered":        {answer: "OK, I will remember 42."},
		"answered-tool":   {answer: "Tool said: hi"},
		"midstream-heals": {answer: "You said: [[error 529 midstream times=1]] one two three"},
		"unknown":         {class: UnknownSession, detail: "No conversation found"},
		"empty-resume":    {class: UnknownSession, detail: "No conversation found"},
		"in-use":          {class: SessionInUse, detail: "already in use"},
		"empty-new":       {class: SessionInUse, detail: "already in use"},
		"bad-option":      {class: Failed, detail: "unknown option '--nonsense'"},
		"error-400":       {class: BadRequest, detail: "400 simulated", status: 400},
		"error-too-long":  {class: TooLong, detail: "Prompt is too long", status: 400},
		"error-401":       {class: Authentication, detail: "401 simulated", status: 401},
		"error-403":       {class: Authentication, detail: "403 simulated", status: 403},
		"no-key":          {class: Authentication, detail: "Not logged in"},
		"error-404":       {class: BadModel, detail: "selected model", status: 404},
		"error-429":       {class: Limit, detail: "429", status: 429},
		"error-500":       {class: ServerError, detail: "500 simulated", status: 500},
		"error-529":       {class: Overloaded, detail: "529 simulated", status: 529},
		"midstream-400":   {class: BadRequest, detail: "400 simulated", status: 400},
		"midstream-401":   {class: Authentication, detail: "401 simulated", status: 401},
		"midstream-429":   {class: Limit, detail: "429", status: 429},
		"midstream-500":   {class: ServerError, detail: "500 simulated", status: 500},
		"midstream-529":   {class: Overloaded, detail: "529 simulated", status: 529},
		"dropped":         {class: ServerError, detail: "ECONNRESET"},
		"no-api":          {class: ServerError, detail: "API Error"},
		"killed-kill":     {class: Killed, detail: "signal: killed"},
		"killed-tool":     {class: Killed, detail: "signal: killed"},
		"killed-term":     {class: Killed, detail: "143"},
		"killed-hup":      {class: Killed, detail: "129"},
		"killed-int":      {class: Interrupted},
	}
	for _, version := range []string{rig.Oldest, seenOn} {
		for name, want := range cases {
			t.Run(version+"/"+name, func(t *testing.T) {
				o := replayed(t, filepath.Join("testdata", "outcomes", version, name+".txtar"))
				rig.Equal(t, o.Class, want.class, "class (%+v)", o)
				rig.Equal(t, o.Answer, want.answer, "answer")
				rig.Equal(t, o.Status, want.status, "status")
				rig.Check(t, strings.Contains(o.Detail, want.detail), "detail %q", o.Detail)
				named := want.class != UnknownSession && want.class != SessionInUse && name != "bad-option"
				rig.Equal(t, o.SessionID != "", named, "session is named (%s)", o.SessionID)
			})
		}
		captured, err := filepath.Glob(filepath.Join("testdata", "outcomes", version, "*"))
		rig.Must(t, err)
		rig.Equal(t, len(captured), len(cases), "outputs of %s", version)
	}
}

// What no simulated API says: the words are those of the program.
func TestUsageLimit(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	e := end{result: &result{IsError: true, Text: "You've hit your session limit · resets 3:30pm (UTC)"}, now: now}
	o := e.outcome()
	rig.Check(t, o.Class == Limit && o.RetryAt.Equal(now.Add(3*time.Hour+30*time.Minute)), "%+v", o)
	e = end{result: &result{IsError: true, Status: 429, Text: "API Error"}, limitedUntil: now.Unix(), now: now}
	o = e.outcome()
	rig.Check(t, o.Class == Limit && o.RetryAt.Equal(now), "%+v", o)
}

// An account without credit is a person's matter: the request is no worse than the next one.
func TestNoCredit(t *testing.T) {
	t.Parallel()
	e := end{result: &result{IsError: true, Status: 400, Text: "API Error: 400 Your credit balance is too low to access the Anthropic API."}}
	rig.Equal(t, e.outcome().Class, Authentication, "class")
}

// A warm claude may be at a turn of its own, such as one about a task in the background: its result is not the text's.
func TestResultOfAnotherTurn(t *testing.T) {
	heard := &listener{id: "ours", over: make(chan struct{})}
	for _, text := range []string{
		`{"type":"result","subtype":"success","result":"of another","num_turns":1}`,
		`{"type":"result","subtype":"success","result":"of another","num_turns":0,"user_message_uuid":"theirs"}`,
		`{"type":"user","isReplay":true,"uuid":"ours","message":{}}`,
		`{"type":"assistant","parent_tool_use_id":"toolu_1","error":"rate_limit","message":{}}`,
		`{"type":"result","subtype":"success","result":"ours","num_turns":1}`,
		`{"type":"result","subtype":"success","result":"later","num_turns":1}`,
	} {
		var l line
		rig.Must(t, json.Unmarshal([]byte(text), &l))
		heard.line(l, false)
	}
	rig.Equal(t, heard.end.outcome().Answer, "ours", "answer")
}

func TestBlocks(t *testing.T) {
	for text, want := range map[string][]saidBlock{
		"hello /clear": {{Type: "text", Text: "hello /clear"}},
		"/clear":       {{Type: "text", Text: "/"}, {Type: "text", Text: "clear"}},
		" /exit now":   {{Type: "text", Text: "/"}, {Type: "text", Text: "exit now"}},
		"//x":          {{Type: "text", Text: "//"}, {Type: "text", Text: "x"}},
		"/ /clear":     {{Type: "text", Text: "/ /"}, {Type: "text", Text: "clear"}},
		"/":            {{Type: "text", Text: "/"}},
	} {
		rig.Same(t, text, want, blocks(text))
	}
}

// Who waits for a turn goes on when it has heard all of it.
func TestATurnIsOverAfterItsLastEvent(t *testing.T) {
	t.Parallel()
	turn := &listener{id: "text", over: make(chan struct{})}
	isOver := func() bool {
		select {
		case <-turn.over:
			return true
		default:
			return false
		}
	}
	heard := false
	turn.heard = func(e Event) {
		heard = heard || e.Kind == Over
		rig.Check(t, !isOver(), "the turn is over before %+v was heard", e)
	}
	(&Process{turn: turn}).hear([]byte(`{"type":"result","num_turns":0}`))
	rig.Check(t, heard && isOver(), "heard %t, over %t", heard, isOver())
}
