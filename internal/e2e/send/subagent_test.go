package send

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// A subagent has hooks of its own. That it asks holds the agent too; else they are nothing
// of the agent's.
func TestSubagentDoesNotSpeakForTheAgent(t *testing.T) {
	m := eachVersion(t)
	m.UserSettings(`{"hooks":{"SubagentStop":[{"hooks":[{"type":"command","command":"cat >>$CLAUDE_CONFIG_DIR/hooked"}]}]}}`)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default", "--prompt",
		`[[tool Task {"description":"d","prompt":"\u005b\u005btool Bash {\"command\":\"touch made\"}]]","subagent_type":"general-purpose"}]]`)
	before := m.Session("alpha")
	m.WaitState("alpha", "waiting") // its hook may come before the one that tells of the end of the agent's own turn
	m.grant(before)
	m.WaitReport("alpha", "its end", func(r e2e.Report) bool { return r.Activity.State == "idle" && r.Activity.Hook == "Stop" })
	m.WaitFor("the subagent has ended", func() (bool, string) {
		text, _ := os.ReadFile(filepath.Join(m.World.ConfigDir, "hooked"))
		return strings.Contains(string(text), `"agent_id"`), string(text)
	})
	after := m.WaitState("alpha", "idle")
	if r := m.Report("alpha"); after.SessionID != before.SessionID || len(after.PreviousSessions) > 0 || r.SessionID != before.SessionID || r.End != nil {
		t.Errorf("after %+v\nreport %+v", after, r)
	}
}
