package main

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
	dry := m.ok(append([]string{"spawn", "alpha", "--dry-run"}, args...)...)
	if !strings.Contains(dry, " && env ANTHROPIC_BASE_URL=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9 $'NOTE=/x\\x0aState:") || !strings.Contains(dry, " CLAUDE_CONFIG_DIR="+m.world.ConfigDir+" ") ||
		!strings.Contains(dry, " --add-dir /srv") || strings.Count(dry, "\n") != 1 {
		t.Errorf("the dry run shows %s", dry)
	}
	m.ok(append([]string{"spawn", "alpha", "--may-manage"}, args...)...)
	shown := m.ok("session", "alpha")
	for _, line := range []string{
		`Variable:        ANTHROPIC_BASE_URL="http://127.0.0.1:9"`, `Variable:        HTTPS_PROXY="http://127.0.0.1:9"`,
		`Variable:        NOTE="/x\nState:           idle\x1b[2J"`, `Arguments:       "--add-dir" "/srv"`,
		`Config folder:   "` + m.world.ConfigDir + `"`, "Powers:          it may give other agents what it does not have itself",
	} {
		m.check(strings.Contains(shown, line+"\n"), "session does not show %s:\n%s", line, shown)
	}
	var s struct {
		Env        map[string]string
		ClaudeArgs []string `json:"claude_args"`
		ConfigDir  string   `json:"config_dir"`
		MayManage  bool     `json:"may_manage"`
	}
	m.must(json.Unmarshal([]byte(m.ok("session", "alpha", "--json")), &s))
	m.check(s.Env["NOTE"] == forged && len(s.ClaudeArgs) == 2 && s.ConfigDir == m.world.ConfigDir && s.MayManage, "%+v", s)
	m.ok("stop", "alpha")
	plan := m.ok("resume", "alpha", "--dry-run", "--json")
	m.check(strings.Contains(plan, `"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:9",`), "%s", plan)
}
