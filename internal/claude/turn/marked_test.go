package turn

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/sim/rig"
)

func invocationOf(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", n) }

func markOfTurn(n int) string { return Marker(invocationOf(n), n) }

func TestMarked(t *testing.T) {
	failed := Mark{Class: Limit, Marked: transcript.Marked{
		Found: true, Detail: "API Error: Request rejected (429) · simulated",
	}}
	unanswered := Mark{Marked: transcript.Marked{Found: true}}
	cases := []struct {
		file string
		turn int
		want Mark
	}{
		{"answered-tool", 1, Mark{Marked: transcript.Marked{Found: true, Answered: true, Answer: "OK, I will remember 42."}}},
		{"answered-tool", 2, Mark{Marked: transcript.Marked{Found: true, Answered: true, Answer: "Tool said: hi", Tools: true, Used: []string{"Bash"}}}},
		{"answered-tool", 3, Mark{}},
		{"killed-slow", 1, unanswered},
		{"killed-tool", 1, Mark{Marked: transcript.Marked{Found: true, Tools: true, Used: []string{"Bash"}}}},
		{"killed-int", 1, unanswered},
		{"continued-term", 1, unanswered}, // not "No response requested."
		{"continued-term", 2, Mark{Marked: transcript.Marked{Found: true, Answered: true, Answer: "OK, I will remember 7."}}},
		{"continued-second", 1, Mark{Marked: transcript.Marked{Found: true, Answered: true, Answer: "OK, I will remember 7."}}},
		{"continued-second", 2, unanswered},
		{"continued-second", 3, Mark{Marked: transcript.Marked{Found: true, Answered: true, Answer: "You said: hello [[delay 30s]]"}}},
		{"continued-tool", 1, Mark{Marked: transcript.Marked{Found: true, Tools: true, Used: []string{"Bash"}}}},
		{"continued-tool", 2, Mark{Marked: transcript.Marked{Found: true, Answered: true, Answer: `You said: [[tool Bash {"command":"sleep 20","description":"x"}]] please`}}},
		{"error-429", 1, failed},
	}
	for _, version := range []string{rig.Oldest, seenOn} {
		for _, c := range cases {
			t.Run(fmt.Sprint(version, "/", c.file, "/", c.turn), func(t *testing.T) {
				got, err := Marked(transcript.At(filepath.Join("testdata", "transcripts", version, c.file+".jsonl")), invocationOf(c.turn), c.turn)
				rig.Must(t, err)
				got.Failure, got.Status = "", 0 // Class is made of them
				want := c.want
				want.Stopped = c.file == "killed-int" && version != rig.Oldest // which exits before it has written that
				rig.Same(t, "mark", want, got)
			})
		}
		got, err := Marked(transcript.At(filepath.Join("testdata", "transcripts", version, "midstream-529.jsonl")), invocationOf(1), 1)
		rig.Check(t, err == nil && got.Found && !got.Answered && got.Class != Answered, "%s: an error in the middle of an answer: %+v, %v", version, got, err)
	}
}

// A transcript may be missing, empty, or cut short within the answer.
func TestMarkedInDamage(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "transcripts", seenOn, "continued-term.jsonl"))
	rig.Must(t, err)
	path := filepath.Join(rig.MemoryDir(t), "t.jsonl")
	check := func(what string, want Mark) {
		t.Helper()
		got, err := Marked(transcript.At(path), invocationOf(2), 2)
		rig.Must(t, err)
		rig.Same(t, what, want, got)
	}
	check("missing", Mark{})
	rig.Must(t, os.WriteFile(path, nil, 0o600))
	check("empty", Mark{})
	for end := 0; end < len(whole); end += 23 {
		rig.Must(t, os.WriteFile(path, whole[:end], 0o600))
		got, err := Marked(transcript.At(path), invocationOf(2), 2)
		if err != nil || got.Answered && got.Answer != "OK, I will remember 7." || got.Class != "" || got.Tools {
			t.Fatalf("cut after %d bytes: %+v, %v", end, got, err)
		}
	}
	// 2.1.197 writes some answers before their questions.
	older := strings.Repeat(`{"type":"user","uuid":"o","message":{"content":"older"}}`+"\n", 2*100)
	rig.Must(t, os.WriteFile(path, []byte(older+`{"type":"assistant","uuid":"c","parentUuid":"b","message":{"model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"early"}]}}
{"type":"user","uuid":"a","message":{"content":"q"}}
{"type":"attachment","uuid":"x","parentUuid":"a","attachment":{"type":"hook_success","content":[{"a":1}]},"apiErrorStatus":"of another form"}
{"type":"attachment","uuid":"b","parentUuid":"x","attachment":{"type":"hook_success","content":"`+`<nbs-turn id=\"00000000-0000-4000-8000-000000000002\" seq=\"2\"/>`+`"}}
{"type":"user","uuid":"d","parentUuid":"c","message":{"content":"next"}}
{"type":"assistant","uuid":"e","parentUuid":"d","message":{"model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"of the next"}]}}
`), 0o600))
	check("out of order, and with forms that are not known", Mark{Marked: transcript.Marked{Found: true, Answered: true, Answer: "early"}})
	rig.Must(t, os.WriteFile(path, []byte(older+`{"type":"assistant","uuid":"d","parentUuid":"c","message":{"model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"early"}]}}
{"type":"attachment","uuid":"b","parentUuid":"a","attachment":{"type":"hook_success","content":"`+`<nbs-turn id=\"00000000-0000-4000-8000-000000000002\" seq=\"2\"/>`+`"}}
{"type":"assistant","uuid":"c","parentUuid":"b","message":{"model":"m","stop_reason":"end_turn","content":[{"type":"thinking","thinking":"x"}]}}
`), 0o600))
	check("what was said stands before the question, what was thought behind it", Mark{Marked: transcript.Marked{Found: true, Answered: true, Answer: "early"}})
}

// A turn that is found shows which tools were refused in it: since 2.1.332 by a field, before that by the words.
func TestToolsThatWereRefusedInATurnThatIsFound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	rig.Must(t, os.WriteFile(path, fmt.Appendf(nil, `{"uuid":%q,"type":"user","message":{"role":"user","content":"hello"}}
{"uuid":"b","parentUuid":%[1]q,"type":"assistant","message":{"role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"x.txt"}}]}}
{"uuid":"c","parentUuid":"b","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"Cannot write to x.txt while in plan mode.","is_error":true}]},"permissionDecision":{"decision":"reject","reasonCode":"mode:plan"}}
{"uuid":"d","parentUuid":"c","type":"assistant","message":{"role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"u","name":"Bash","input":{"command":"false"}}]}}
{"uuid":"e","parentUuid":"d","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":"Exit code 1","is_error":true}]},"permissionDecision":{"decision":"accept"}}
{"uuid":"f","parentUuid":"e","type":"assistant","message":{"role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"v","name":"Edit","input":{"file_path":"y.txt"}}]}}
{"uuid":"g","parentUuid":"f","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"v","content":"Permission to use Edit has been denied because Claude Code is running in don't ask mode.","is_error":true}]}}
{"uuid":"h","parentUuid":"g","type":"assistant","message":{"role":"assistant","model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"I could not."}]}}
`, TextID(invocationOf(1), 1)), 0o600))
	got, err := Marked(transcript.At(path), invocationOf(1), 1)
	rig.Check(t, err == nil && got.Answered && got.Answer == "I could not.", "%+v, %v", got, err)
	rig.Same(t, "refused tools", []Denial{{"Write", "x.txt"}, {"Edit", "y.txt"}}, got.Denials)
}

// After an error of the API the tools that were used before it are known.
func TestToolsBeforeAnErrorOfTheAPI(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	rig.Must(t, os.WriteFile(path, fmt.Appendf(nil, `{"uuid":%q,"type":"user","message":{"role":"user","content":"hello"}}
{"uuid":"b","parentUuid":%[1]q,"type":"assistant","message":{"role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}
{"uuid":"c","parentUuid":"b","type":"assistant","isApiErrorMessage":true,"error":"rate_limit","message":{"role":"assistant","content":[{"type":"text","text":"API Error"}]}}
`, TextID(invocationOf(1), 1)), 0o600))
	got, err := Marked(transcript.At(path), invocationOf(1), 1)
	rig.Check(t, err == nil && got.Class != Answered && got.Tools, "%+v, %v", got, err)
	rig.Same(t, "tools", []string{"Bash"}, got.Used)
}
