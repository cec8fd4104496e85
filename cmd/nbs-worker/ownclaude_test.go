package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/proc"
)

// A claude that the agent's tools start, with the agent's variables and even with our hooks,
// is another than the agent's: what it says is nothing of the agent's.
func TestClaudeOfTheAgentsToolsDoesNotSpeakForIt(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		before := m.remembers("alpha")
		m.waitReport("alpha", "the end of the turn", func(r report) bool { return r.Activity.Hook == "Stop" })
		script := m.anotherClaude(before.RecordedPID)
		m.typeLine(before, `[[tool Bash {"command":"`+script+`"}]]`)
		m.waitFor("the other has ended", func() (bool, string) {
			text, _ := os.ReadFile(script + ".out")
			return strings.HasSuffix(string(text), "ended 0\n"), string(text) + m.screen("alpha")
		})
		m.waitReport("alpha", "the end of its own turn", func(r report) bool { return r.Activity.Hook == "Stop" && r.SessionID == before.SessionID })
		after := m.waitState("alpha", "idle")
		if after.SessionID != before.SessionID || len(after.PreviousSessions) > 0 || strings.Contains(m.journal(), `"moved"`) {
			t.Errorf("the record followed another claude: %+v\n%s", after, m.journal())
		}
		r := m.report("alpha")
		m.check(r.End == nil, "another claude's end is told as the agent's: %+v", r)
	})
}

// anotherClaude writes a script that runs claude -p with the settings of a running one.
func (m *team) anotherClaude(pid int) (script string) {
	m.Helper()
	args, err := proc.Cmdline(pid)
	m.must(err)
	settings := ""
	for i, arg := range args {
		if arg == "--settings" {
			settings = args[i+1]
		}
	}
	dir := m.TempDir()
	file, script := filepath.Join(dir, "settings.json"), filepath.Join(dir, "another")
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil || settings == "" {
		m.Fatal(settings, err)
	}
	text := "#!/bin/sh\n" + program + " -p --model sonnet --settings " + file + " 'Remember 77.' >" + script + ".out 2>&1 </dev/null\necho ended $? >>" + script + ".out\n"
	for name, text := range map[string]string{file: settings, script: text} {
		m.must(os.WriteFile(name, []byte(text), 0o700))
	}
	return script
}
