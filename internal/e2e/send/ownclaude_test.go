package send

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/platform/machine/local"
)

// A claude that the agent's tools start, with the agent's variables and even with our hooks,
// is another than the agent's: what it says is nothing of the agent's.
func TestClaudeOfTheAgentsToolsDoesNotSpeakForIt(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.WaitReport("alpha", "the end of the turn", func(r e2e.Report) bool { return r.Activity.Hook == "Stop" })
	script := m.anotherClaude(before.RecordedPID)
	m.TypeLine(before, `[[tool Bash {"command":"`+script+`"}]]`)
	m.WaitFor("the other has ended", func() (bool, string) {
		text, _ := os.ReadFile(script + ".out")
		return strings.HasSuffix(string(text), "ended 0\n"), string(text)
	})
	m.WaitReport("alpha", "the end of its own turn", func(r e2e.Report) bool { return r.Activity.Hook == "Stop" && r.SessionID == before.SessionID })
	after := m.WaitState("alpha", "idle")
	if after.SessionID != before.SessionID || len(after.PreviousSessions) > 0 || strings.Contains(m.Journal(), `"moved"`) {
		t.Errorf("the record followed another claude: %+v\n%s", after, m.Journal())
	}
	r := m.Report("alpha")
	m.Check(r.End == nil, "another claude's end is told as the agent's: %+v", r)
}

// anotherClaude writes a script that runs claude -p with the settings of a running one.
func (m *team) anotherClaude(pid int) (script string) {
	m.Helper()
	args, err := local.New().Cmdline(pid)
	m.Must(err)
	settings := ""
	for i, arg := range args {
		if arg == "--settings" {
			settings = args[i+1]
		}
	}
	dir := m.TempDir()
	file, script := filepath.Join(dir, "settings.json"), filepath.Join(dir, "another")
	m.Check(settings != "", "it was given no settings: %q", args)
	text := "#!/bin/sh\n" + m.Variable("NBS_CLAUDE") + " -p --model sonnet --settings " + file + " 'Remember 77.' >" + script + ".out 2>&1 </dev/null\necho ended $? >>" + script + ".out\n"
	for name, text := range map[string]string{file: settings, script: text} {
		m.Must(os.WriteFile(name, []byte(text), 0o700))
	}
	return script
}
