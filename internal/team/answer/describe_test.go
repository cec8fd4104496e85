package answer

import (
	"encoding/json"
	"strings"
	"testing"

	"nbs-worker/internal/human"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/requests"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, input, title, body string }{
		{"Bash", `{"command":"rm -rf build","description":"Remove it"}`, "Bash: rm -rf build", "command: rm -rf build\ndescription: Remove it"},
		{
			"Bash", `{"command":"cat <<E\ndescription: harmless\nE","dangerouslyDisableSandbox":true}`, "Bash: cat <<E description: harmless E",
			"command:\n  cat <<E\n  description: harmless\n  E\ndangerouslyDisableSandbox: true",
		},
		{
			"Edit", `{"file_path":"/p/a.go","old_string":"one\ntwo\nthree","new_string":"one\n2\nthree\nfour","replace_all":false}`, "Edit: /p/a.go",
			"file_path: /p/a.go\n one\n-two\n+2\n three\n+four",
		},
		{"Edit", `{"file_path":"/p/a.go","old_string":"x","new_string":"y","replace_all":true}`, "Edit: /p/a.go", "file_path: /p/a.go\neach place of:\n-x\n+y"},
		{"Write", `{"file_path":"/p/new","content":"a\nb\n"}`, "Write: /p/new", "file_path: /p/new\n+a\n+b"},
		{
			"MultiEdit", `{"file_path":"/p/a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"","new_string":"z"}]}`, "MultiEdit: /p/a",
			"file_path: /p/a\nchange 1:\n-x\n+y\nchange 2:\n+z",
		},
		{"WebFetch", `{"prompt":"Sum it up","url":"https://example.com/a"}`, "WebFetch: https://example.com/a", "url: https://example.com/a\nprompt: Sum it up"},
		{"ExitPlanMode", `{"plan":"1. Read\n2. Write"}`, "ExitPlanMode: a plan to begin with", "plan:\n  1. Read\n  2. Write"},
		{"AskUserQuestion", oneQuestion, "AskUserQuestion: Which database?", "Which database?\n  1. Postgres: big\n  2. SQLite"},
		{
			"AskUserQuestion", twoQuestions, "AskUserQuestion: Which?",
			"[DB] Which?\n  1. Postgres\n  2. SQLite\n  3. 3\n[Parts] What else?\n  1. Cache\n  2. Queue\n  3. Search, fuzzy\n  (several may be chosen)",
		},
		{"mcp__x__do", `{"b":[1,2],"a":"c"}`, "mcp__x__do: a c", "a: c\nb: [1,2]"},
		{"Odd", `[1]`, "Odd: input [1]", "input: [1]"},
		{"Odd", `{}`, "Odd: no input", "Odd has no input"},
		{"Bash", `{"command":"x\u001b[2J\u202e","\u001bname\nx":"1"}`, `Bash: x?[2J\u202e`, `command: x?[2J\u202e` + "\n" + `"\x1bname\nx": 1`},
	} {
		text := Describe(requests.Request{Tool: c.tool, Input: json.RawMessage(c.input)})
		rig.Equal(t, text.Title, c.title, "the title of %s", c.input)
		rig.Equal(t, text.Body, c.body, "the body of %s", c.input)
	}
}

func TestSuggestionsInWords(t *testing.T) {
	t.Parallel()
	for suggested, want := range map[string]string{
		``: "", `null`: "", `[]`: "", `{`: "",
		suggestedRule: "allow Bash(make *), in .claude/settings.local.json",
		`[{"type":"setMode","mode":"acceptEdits","destination":"session"}]`:                                                                               "permission mode acceptEdits, until the session ends",
		`[{"type":"addDirectories","directories":["/etc"],"destination":"session"}]`:                                                                      "work in /etc, until the session ends",
		`[{"type":"addRules","rules":[{"toolName":"WebFetch"},{"toolName":"Read","ruleContent":"/**"}],"behavior":"allow","destination":"userSettings"}]`: "allow WebFetch and Read(/**), in the user's settings of Claude",
		`[{"type":"new","x":"\u001b"}]`: `{"type":"new","x":"\u001b"}`,
	} {
		text := Describe(requests.Request{Tool: "Bash", Suggested: json.RawMessage(suggested)})
		rig.Equal(t, strings.Join(text.Always, "|"), want, "%s", suggested)
	}
}

// Whatever an agent asks, what is shown is harmless, the title is a line, and no field is left out.
func FuzzDescribe(f *testing.F) {
	for _, input := range []string{`{"command":"x"}`, oneQuestion, twoQuestions, `{"old_string":"a\nb","new_string":"b"}`, `{"edits":[{}]}`, `[`, ``, `{"content":1}`, `{"questions":3}`} {
		f.Add("Edit", input, suggestedRule)
		f.Add("AskUserQuestion", input, `[1]`)
	}
	f.Fuzz(func(t *testing.T, tool, input, suggested string) {
		text := Describe(requests.Request{Tool: tool, Input: json.RawMessage(input), Suggested: json.RawMessage(suggested)})
		for _, line := range append([]string{text.Title, text.Body}, text.Always...) {
			rig.Check(t, human.IsLegible(line), "%q is not harmless", line)
		}
		rig.Check(t, !strings.ContainsAny(text.Title, "\n\t") && text.Body != "", "%q, %q", text.Title, text.Body)
		for _, line := range text.Always {
			rig.Check(t, !strings.Contains(line, "\n"), "%q", line)
		}
	})
}

// A large change is shown as a whole, and every line of both texts is there.
func TestDiffKeepsEachLine(t *testing.T) {
	t.Parallel()
	old, now := strings.Repeat("a\n", 2000), strings.Repeat("b\n", 2000)
	input, err := json.Marshal(map[string]string{"old_string": old, "new_string": now})
	rig.Must(t, err)
	body := "\n" + Describe(requests.Request{Tool: "Edit", Input: input}).Body
	rig.Check(t, strings.Count(body, "\n-a") == 2000 && strings.Count(body, "\n+b") == 2000, "%d bytes", len(body))
}
