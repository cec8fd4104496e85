package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A subagent has hooks of its own. That it asks holds the agent too; else they are nothing
// of the agent's.
func TestSubagentDoesNotSpeakForTheAgent(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		m.userSettings(`{"hooks":{"SubagentStop":[{"hooks":[{"type":"command","command":"cat >>$CLAUDE_CONFIG_DIR/hooked"}]}]}}`)
		m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default", "--prompt",
			`[[tool Task {"description":"d","prompt":"\u005b\u005btool Bash {\"command\":\"touch made\"}]]","subagent_type":"general-purpose"}]]`)
		before := m.session("alpha")
		m.waitState("alpha", "waiting") // its hook may come before the one that tells of the end of the agent's own turn
		m.grant(before)
		m.waitReport("alpha", "its end", func(r report) bool { return r.Activity.State == "idle" && r.Activity.Hook == "Stop" })
		m.waitFor("the subagent has ended", func() (bool, string) {
			text, _ := os.ReadFile(filepath.Join(m.world.ConfigDir, "hooked"))
			return strings.Contains(string(text), `"agent_id"`), string(text)
		})
		after := m.waitState("alpha", "idle")
		if r := m.report("alpha"); after.SessionID != before.SessionID || len(after.PreviousSessions) > 0 || r.SessionID != before.SessionID || r.End != nil {
			t.Errorf("after %+v\nreport %+v", after, r)
		}
	})
}
