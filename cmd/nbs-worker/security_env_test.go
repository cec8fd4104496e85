package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// What a record gives an agent is shown, and nothing in it loads other code than is shown.

func TestSecurityLoadersAreNoVariablesOfARecord(t *testing.T) {
	m := standIn(t)
	names := []string{
		"LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BUN_OPTIONS", "NODE_OPTIONS", "NODE_PATH", "BASH_ENV", "ENV", "SHELLOPTS",
		"PROMPT_COMMAND", "PYTHONPATH", "PERL5OPT", "RUBYOPT", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "GIT_ASKPASS",
		"SSH_ASKPASS", "GCONV_PATH", "OPENSSL_CONF", "npm_config_node_options", "LESSOPEN", "PATH", "SHELL", "IS_SANDBOX", "CLAUDE_CODE_SANDBOXED",
		"CLAUDE_CODE_SHELL_PREFIX", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
	}
	for _, name := range names {
		r := m.refused(4, "variable "+name+" cannot be set for an agent: it ", "spawn", "alpha", "--env", name+"=/x")
		if !strings.Contains(r.stderr, "it comes from the caller's environment or not at all") {
			t.Error(r)
		}
	}
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	whole := m.recordText("alpha")
	for _, name := range names { // and with a seal that somebody has got for it
		m.setRecord("alpha", func(fields map[string]any) { fields["env"] = map[string]string{name: "/x"} })
		m.allow("alpha")
		m.refused(4, "variable "+name+" cannot be set", "resume", "alpha")
		m.writeRecord("alpha", whole)
	}
}

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
		if !strings.Contains(shown, line+"\n") {
			t.Errorf("session does not show %s:\n%s", line, shown)
		}
	}
	var s struct {
		Env        map[string]string
		ClaudeArgs []string `json:"claude_args"`
		ConfigDir  string   `json:"config_dir"`
		MayManage  bool     `json:"may_manage"`
	}
	if err := json.Unmarshal([]byte(m.ok("session", "alpha", "--json")), &s); err != nil {
		t.Fatal(err)
	}
	if s.Env["NOTE"] != forged || len(s.ClaudeArgs) != 2 || s.ConfigDir != m.world.ConfigDir || !s.MayManage {
		t.Errorf("%+v", s)
	}
	m.ok("stop", "alpha")
	if plan := m.ok("resume", "alpha", "--dry-run", "--json"); !strings.Contains(plan, `"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:9",`) {
		t.Error(plan)
	}
}
