package transcript

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// before is what a transcript had before a text was submitted.
const before = `{"type":"user","uuid":"u0","message":{"role":"user","content":"again"}}
{"type":"assistant","uuid":"a0","parentUuid":"u0","message":{"role":"assistant","content":[{"type":"text","text":"old"}],"stop_reason":"end_turn"}}
`

func written(t *testing.T, lines ...string) (File, int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	rig.Must(t, os.WriteFile(path, []byte(before+strings.Join(lines, "\n")+"\n"), 0o600))
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
		"queued":                       {[]string{enqueued}, Sent{Found: true}},
		"queued, then taken up":        {[]string{enqueued, `{"type":"queue-operation","operation":"dequeue"}`, user}, Sent{UUID: "u1", Found: true}},
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
		got, err := file.Sent(after, "again")
		rig.Check(t, err == nil && got == c.want, "%s: %+v, %v; want %+v", what, got, err, c.want)
	}
	got, err := At(filepath.Join(t.TempDir(), "none.jsonl")).Sent(0, "again")
	rig.Check(t, err == nil && got == (Sent{}), "before the first prompt: %+v, %v", got, err)
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	const user = `{"type":"user","uuid":"u1","parentUuid":"a0","message":{"role":"user","content":"go"}}`
	record := func(uuid, parent, rest string) string {
		return `{"uuid":"` + uuid + `","parentUuid":"` + parent + `",` + rest + `}`
	}
	says := func(text, stop string) string {
		return `"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}],"stop_reason":"` + stop + `"}`
	}
	const tool = `"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{}}],"stop_reason":"tool_use"}`
	const result = `"type":"user","message":{"content":[{"type":"tool_result","content":"done"}]}`
	const attached = `"type":"attachment","attachment":{"type":"date"}`
	for what, c := range map[string]struct {
		lines []string
		want  Answer
	}{
		"not begun": {nil, Answer{}},
		"not ended": {[]string{user, record("a", "u1", says("half", ""))}, Answer{Text: "half"}},
		"a reply": {
			[]string{user, record("a", "u1", says("whole", "end_turn")), record("u2", "a", `"type":"user","message":{"content":"more"}`), record("b", "u2", says("later", "end_turn"))},
			Answer{Ended: true, Text: "whole"},
		},
		"in two records":          {[]string{user, record("a", "u1", says("one", "")), record("b", "a", says("two", "end_turn"))}, Answer{Ended: true, Text: "one\ntwo"}},
		"behind an attachment":    {[]string{user, record("x", "u1", attached), record("a", "x", says("whole", "end_turn"))}, Answer{Ended: true, Text: "whole"}},
		"written before the text": {[]string{record("a", "x", says("whole", "end_turn")), record("x", "u1", attached), user}, Answer{Ended: true, Text: "whole"}},
		"written after its end":   {[]string{user, record("d", "a", `"type":"system","subtype":"turn_duration"`), record("a", "u1", says("whole", "end_turn"))}, Answer{Ended: true, Text: "whole"}},
		"of another turn":         {[]string{user, record("a", "u0", says("other", "end_turn"))}, Answer{}},
		"behind a tool": {
			[]string{user, record("a", "u1", says("I look", "")), record("b", "a", tool), record("c", "b", result), record("d", "c", says("found", "end_turn"))},
			Answer{Ended: true, Text: "found"},
		},
		"in a tool":      {[]string{user, record("a", "u1", says("I look", "")), record("b", "a", tool)}, Answer{}},
		"without a word": {[]string{user, record("b", "u1", tool), record("c", "b", result), record("d", "c", `"type":"system","subtype":"turn_duration"`)}, Answer{Ended: true}},
		"of a subagent":  {[]string{user, record("a", "u1", `"isSidechain":true,`+says("inner", "end_turn"))}, Answer{}},
		"in a circle":    {[]string{user, record("a", "b", says("x", "")), record("b", "a", says("y", ""))}, Answer{}},
		"in its circle":  {[]string{record("u1", "a", `"type":"user","message":{"content":"go"}`), record("a", "u1", says("x", ""))}, Answer{Text: "x"}},
		"interrupted": {
			[]string{user, record("a", "u1", says("half", "")), record("i", "a", `"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}`)},
			Answer{Ended: true, Text: "half", Interrupted: true},
		},
		"an error": {
			[]string{user, record("a", "u1", `"isApiErrorMessage":true,"error":"server_error",`+says("API Error: 529", "stop_sequence"))},
			Answer{Ended: true, Text: "API Error: 529", Failure: "server_error"},
		},
		"resumed before it": {
			[]string{user, record("a", "u1", `"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"No response requested."}],"stop_reason":"stop_sequence"}`), record("b", "a", says("whole", "end_turn"))},
			Answer{Ended: true, Text: "whole"},
		},
		"cut off, resumed": {[]string{user, record("a", "u1", says("half", "stop_sequence"))}, Answer{Text: "half"}},
	} {
		file, after := written(t, c.lines...)
		got, err := file.Answer(after, "u1")
		rig.Check(t, err == nil && got == c.want, "%s: %+v, %v; want %+v", what, got, err, c.want)
	}
}

// In a conversation to which claude has moved, what was said there before does not count.
func TestSentSince(t *testing.T) {
	t.Parallel()
	file, _ := written(t, `{"type":"user","uuid":"u1","timestamp":"2026-01-01T00:00:01.500Z","message":{"content":"again"}}`)
	at := time.Date(2026, 1, 1, 0, 0, 1, 500e6, time.UTC)
	for since, want := range map[time.Time]Sent{at: {UUID: "u1", Found: true}, at.Add(time.Millisecond): {}} {
		got, err := file.SentSince(since, "again")
		rig.Check(t, err == nil && got == want, "since %s: %+v, %v", since, got, err)
	}
}

func TestLastAsked(t *testing.T) {
	t.Parallel()
	const user = `{"type":"user","uuid":"u1","message":{"role":"user","content":"and this"}}`
	for what, c := range map[string]struct {
		lines []string
		want  string
	}{
		"answered": {nil, "again"}, "not answered": {[]string{user}, "and this"},
		"a tool runs": {[]string{user, `{"type":"user","uuid":"u2","message":{"content":[{"type":"tool_result","content":"a result"}]}}`}, "and this"},
		"a subagent":  {[]string{user, `{"type":"user","uuid":"u2","isSidechain":true,"message":{"content":"look there"}}`}, "and this"},
	} {
		file, _ := written(t, c.lines...)
		got, err := file.LastAsked()
		rig.Check(t, err == nil && got == c.want, "%s: %q, %v; want %q", what, got, err, c.want)
	}
}

// A long turn is read while somebody waits for its end, again and again: the chain of its records is
// not walked anew for each.
func TestGenerationsOfALongTurn(t *testing.T) {
	t.Parallel()
	const records = 10_000
	parents, looks := map[string]string{}, 0
	for n := range records {
		parents[strconv.Itoa(n+1)] = strconv.Itoa(n)
	}
	behind := generations("0", maps.Keys(parents), func(uuid string) string { looks++; return parents[uuid] })
	last := behind[strconv.Itoa(records)]
	rig.Check(t, last == records && looks == records, "the last record is %d behind, after %d looks for a parent; want %d and no more", last, looks, records)
}
