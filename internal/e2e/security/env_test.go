package security

import (
	"encoding/json"
	"strings"
	"testing"
)

// What a record gives an agent is shown. What would load other code than is shown is refused (internal/cli).

func TestSecurityWhatARecordGivesIsShown(t *testing.T) {
	m := standIn(t)
	const forged = "/x\nState:           idle\x1b[2J"
	args := []string{"--env", "ANTHROPIC_BASE_URL=http://127.0.0.1:9", "--env", "HTTPS_PROXY=http://127.0.0.1:9", "--env", "NOTE=" + forged, "--", "--add-dir", "/srv"}
	dry := m.OK(append([]string{"spawn", "alpha", "--dry-run"}, args...)...)
	if !strings.Contains(dry, " && env ANTHROPIC_BASE_URL=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9 $'NOTE=/x\\x0aState:") || !strings.Contains(dry, " CLAUDE_CONFIG_DIR="+m.World.ConfigDir+" ") ||
		!strings.Contains(dry, " --add-dir /srv") || strings.Count(dry, "\n") != 1 {
		t.Errorf("the dry run shows %s", dry)
	}
	m.OK(append([]string{"spawn", "alpha", "--may-manage"}, args...)...)
	shown := m.OK("session", "alpha")
	for _, line := range []string{
		`Variable:        ANTHROPIC_BASE_URL="http://127.0.0.1:9"`, `Variable:        HTTPS_PROXY="http://127.0.0.1:9"`,
		`Variable:        NOTE="/x\nState:           idle\x1b[2J"`, `Arguments:       "--add-dir" "/srv"`,
		`Config folder:   "` + m.World.ConfigDir + `"`, "Powers:          it may give other agents what it does not have itself",
	} {
		m.Check(strings.Contains(shown, line+"\n"), "session does not show %s:\n%s", line, shown)
	}
	var s struct {
		Env        map[string]string
		ClaudeArgs []string `json:"claude_args"`
		ConfigDir  string   `json:"config_dir"`
		MayManage  bool     `json:"may_manage"`
	}
	m.Must(json.Unmarshal([]byte(m.OK("session", "alpha", "--json")), &s))
	m.Check(s.Env["NOTE"] == forged && len(s.ClaudeArgs) == 2 && s.ConfigDir == m.World.ConfigDir && s.MayManage, "%+v", s)
	m.OK("stop", "alpha")
	plan := m.OK("resume", "alpha", "--dry-run", "--json")
	m.Check(strings.Contains(plan, `"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:9",`), "%s", plan)
}
