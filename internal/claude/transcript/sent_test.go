package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// before is what a transcript had before a text was submitted.
const before = `{"type":"user","uuid":"u0","message":{"role":"user","content":"again"}}
{"type":"assistant","uuid":"a0","parentUuid":"u0","message":{"role":"assistant","content":[{"type":"text","text":"old"}],"stop_reason":"end_turn"}}
`

func written(t *testing.T, lines ...string) (File, int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(before+strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return At(path), int64(len(before))
}

func TestSent(t *testing.T) {
	t.Parallel()
	const user = `{"type":"user","uuid":"u1","message":{"role":"user","content":"again"}}`
	const enqueued = `{"type":"queue-operation","operation":"enqueue","content":"again"}`
	for what, c := range map[string]struct {
		lines []string
		want  Sent
	}{
		"nothing yet":                  {nil, Sent{}},
		"a record of its own":          {[]string{user}, Sent{UUID: "u1", Found: true}},
		"in blocks":                    {[]string{`{"type":"user","uuid":"u1","message":{"content":[{"type":"text","text":"again"}]}}`}, Sent{UUID: "u1", Found: true}},
		"queued":                       {[]string{enqueued}, Sent{Queued: true, Found: true}},
		"queued, then taken up":        {[]string{enqueued, `{"type":"queue-operation","operation":"dequeue"}`, user}, Sent{UUID: "u1", Queued: true, Found: true}},
		"while a tool ran":             {[]string{`{"type":"attachment","uuid":"u1","attachment":{"type":"queued_command","commandMode":"prompt","prompt":"again"}}`}, Sent{UUID: "u1", Found: true}},
		"a longer text":                {[]string{`{"type":"user","uuid":"u1","message":{"content":"again and again"}}`}, Sent{}},
		"what a tool has answered":     {[]string{`{"type":"user","uuid":"u1","message":{"content":[{"type":"tool_result","content":"again"}]}}`}, Sent{}},
		"what Claude has told itself":  {[]string{`{"type":"user","uuid":"u1","isMeta":true,"message":{"content":"again"}}`}, Sent{}},
		"to a subagent":                {[]string{`{"type":"user","uuid":"u1","isSidechain":true,"message":{"content":"again"}}`}, Sent{}},
		"what the agent said":          {[]string{`{"type":"assistant","uuid":"u1","message":{"content":[{"type":"text","text":"again"}]}}`}, Sent{}},
		"a command of Claude's":        {[]string{`{"type":"user","uuid":"u1","message":{"content":"<command-name>/again</command-name><command-args></command-args>"}}`}, Sent{}},
		"a line that is being written": {[]string{user[:40]}, Sent{}},
	} {
		file, after := written(t, c.lines...)
		if got, err := file.Sent(after, " again\n"); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", what, got, err, c.want)
		}
	}
	if got, err := At(filepath.Join(t.TempDir(), "none.jsonl")).Sent(0, "again"); err != nil || got != (Sent{}) {
		t.Errorf("before the first prompt: %+v, %v", got, err)
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	const user = `{"type":"user","uuid":"u1","message":{"role":"user","content":"go"}}`
	says := func(text, stop string) string {
		return `{"type":"assistant","uuid":"a1","message":{"content":[{"type":"text","text":"` + text + `"}],"stop_reason":"` + stop + `"}}`
	}
	const tool = `{"type":"assistant","uuid":"a2","message":{"content":[{"type":"tool_use","name":"Bash","input":{}}],"stop_reason":"tool_use"}}`
	const result = `{"type":"user","uuid":"r2","message":{"content":[{"type":"tool_result","content":"done"}]}}`
	for what, c := range map[string]struct {
		lines []string
		want  Answer
	}{
		"not begun":        {nil, Answer{}},
		"not ended":        {[]string{user, says("half", "")}, Answer{Text: "half"}},
		"a reply":          {[]string{user, says("whole", "end_turn"), user, says("later", "end_turn")}, Answer{Ended: true, Text: "whole"}},
		"in two records":   {[]string{user, says("one", ""), says("two", "end_turn")}, Answer{Ended: true, Text: "one\ntwo"}},
		"behind a tool":    {[]string{user, says("I look", ""), tool, result, says("found", "end_turn")}, Answer{Ended: true, Text: "found"}},
		"in a tool":        {[]string{user, says("I look", ""), tool}, Answer{}},
		"without a word":   {[]string{user, tool, result, `{"type":"system","subtype":"turn_duration"}`}, Answer{Ended: true}},
		"of a subagent":    {[]string{user, strings.Replace(says("inner", "end_turn"), `{`, `{"isSidechain":true,`, 1)}, Answer{}},
		"interrupted":      {[]string{user, says("half", ""), `{"type":"user","uuid":"i","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`}, Answer{Ended: true, Text: "half", Interrupted: true}},
		"an error":         {[]string{user, strings.Replace(says("API Error: 529", "stop_sequence"), `{`, `{"isApiErrorMessage":true,"error":"server_error",`, 1)}, Answer{Ended: true, Text: "API Error: 529", Failure: "server_error"}},
		"cut off, resumed": {[]string{user, says("half", "stop_sequence")}, Answer{Text: "half"}},
	} {
		file, after := written(t, c.lines...)
		if got, err := file.Answer(after, "u1"); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", what, got, err, c.want)
		}
	}
}
