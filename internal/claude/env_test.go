package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestEnvIsTheCallersLessWhatClaudeSet(t *testing.T) {
	t.Parallel()
	caller := []string{
		"PATH=/bin", "ANTHROPIC_API_KEY=k", "IS_SANDBOX=1", "EMPTY=", "URL=a=b", "broken", "CLAUDE_CODE_MAX_RETRIES=2",
		"CLAUDECODE=1", "CLAUDE_CODE_CHILD_SESSION=1", "CLAUDE_CODE_SESSION_ID=x", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_EXECPATH=/c",
		"AI_AGENT=x", "CLAUDE_PID=1", "CLAUDE_EFFORT=high", "CLAUDE_ENV_FILE=/e", "CLAUDE_PROJECT_DIR=/p",
		"CLAUDE_CODE_MESSAGING_SOCKET=/s", "CLAUDE_CODE_MESSAGING_TOKEN=t", "CLAUDE_CODE_SKIP_PROMPT_HISTORY=1",
	}
	record := agent.Spec{Schema: 1, Env: map[string]string{"LANG": "C", "PATH": "/opt/bin", "NBS_HANDLE": "forged"}}
	want := []string{
		"ANTHROPIC_API_KEY=k", "CLAUDE_CODE_MAX_RETRIES=2", "CLAUDE_CODE_NO_FLICKER=0", "EMPTY=", "IS_SANDBOX=1", "LANG=C",
		"NBS_HANDLE=alice", "PATH=/opt/bin", "URL=a=b",
	}
	rig.Same(t, "the environment", want, Env(&record, caller, map[string]string{"NBS_HANDLE": "alice"}))
}

func TestEnvLeavesTheCallersChoiceOfScreen(t *testing.T) {
	t.Parallel()
	got := Env(&agent.Spec{}, []string{"CLAUDE_CODE_NO_FLICKER=1"}, nil)
	rig.Same(t, "the environment", []string{"CLAUDE_CODE_NO_FLICKER=1"}, got)
}

// Claude's configuration is the recorded one, wherever the agent is resumed from.
func TestConfigIsTheRecordedOne(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	rig.Must(t, err)
	usual := Config{dir: filepath.Join(home, ".claude"), file: filepath.Join(home, ".claude.json")}
	callers := Config{dir: "/caller", file: "/caller/.claude.json"}
	recorded := Config{dir: "/recorded", file: "/recorded/.claude.json"}
	for what, c := range map[string]struct {
		record   agent.Spec
		caller   string
		config   Config
		variable string
	}{
		"recorded":                     {agent.Spec{Schema: 1, ConfigDir: "/recorded"}, "/caller", recorded, "/recorded"},
		"recorded, the caller's unset": {agent.Spec{Schema: 1, ConfigDir: "/recorded"}, "", recorded, "/recorded"},
		"recorded is the default":      {agent.Spec{Schema: 1}, "/caller", usual, ""},
		"of the original tools":        {agent.Spec{}, "/caller", callers, "/caller"},
		"of the original tools, unset": {agent.Spec{}, "", usual, ""},
	} {
		var caller []string
		if c.caller != "" {
			caller = []string{"PATH=/bin", ConfigDirVariable + "=" + c.caller}
		}
		rig.Gives(t, c.config, "%s: ConfigOf", what)(ConfigOf(&c.record, caller))
		env := "\n" + strings.Join(Env(&c.record, caller, nil), "\n") + "\n"
		if c.variable == "" && strings.Contains(env, ConfigDirVariable) || c.variable != "" && !strings.Contains(env, "\n"+ConfigDirVariable+"="+c.variable+"\n") {
			t.Errorf("%s: the environment is%swant %s=%s", what, env, ConfigDirVariable, c.variable)
		}
	}
}

func TestConfigNeedsAHome(t *testing.T) {
	t.Setenv("HOME", "")
	_, err := ConfigAt("")
	wantKind(t, "without a home", err, fail.Unfit)
	_, err = ConfigAt("/c")
	rig.Check(t, err == nil, "with a folder of its own: %v", err)
}

func TestRefusesRoot(t *testing.T) {
	t.Parallel()
	bypass, plan := agent.Spec{}, agent.Spec{PermissionMode: "plan"}
	for what, c := range map[string]struct {
		record *agent.Spec
		env    []string
		uid    int
		want   bool
	}{
		"root bypasses":              {&bypass, nil, 0, true},
		"root bypasses in a sandbox": {&bypass, []string{"A=1", "IS_SANDBOX=1"}, 0, false},
		"root, sandbox denied":       {&bypass, []string{"IS_SANDBOX=0"}, 0, true},
		"root asks":                  {&plan, nil, 0, false},
		"a user bypasses":            {&bypass, nil, 1000, false},
	} {
		rig.Equal(t, RefusesRoot(c.record, c.env, c.uid), c.want, "%s", what)
	}
}

func TestFindBinary(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"claude": 0o700, "other": 0o700, "text": 0o600} {
		rig.Must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode))
	}
	t.Setenv("PATH", dir)
	for chosen, want := range map[string]string{"": "claude", "other": "other", dir + "/other": "other"} {
		rig.Gives(t, filepath.Join(dir, want), "FindBinary(%q)", chosen)(FindBinary(chosen))
	}
	for _, chosen := range []string{"text", dir + "/text", dir, "/nonexistent"} {
		_, err := FindBinary(chosen)
		wantKind(t, chosen, err, fail.Unfit)
		rig.Check(t, err == nil || strings.Contains(err.Error(), BinaryVariable), "%s: %v; want the variable that chose it", chosen, err)
	}
	t.Setenv("PATH", t.TempDir())
	_, err := FindBinary("")
	wantKind(t, "not installed", err, fail.Unfit)
	rig.Check(t, strings.Contains(strings.Join(fail.HintsOf(err), " "), BinaryVariable), "no remedy: %q", fail.HintsOf(err))
}

func TestRefusalKind(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]fail.Kind{
		"No conversation found with session ID: " + string(sessionID):    fail.NotFound,
		"Error: Session ID " + string(sessionID) + " is already in use.": fail.Conflict,
		RootRefusal: fail.BadInput,
		"error: option '--permission-mode <mode>' argument 'x' is invalid. Allowed choices are auto.": fail.BadInput,
		"error: unknown option '--nope'":            fail.BadInput,
		"error: unknown option '--session-id'":      fail.Unfit,
		"error: unknown option '--permission-mode'": fail.Unfit,
		" Unable to connect to Anthropic services\n\n Failed to connect to api.anthropic.com: EAI_AGAIN": fail.Held,
		"":            fail.Failed,
		"panic: oops": fail.Failed,
	} {
		rig.Equal(t, RefusalKind("...\n"+words+"\n"), want, "%q: kind", words)
	}
}

// What loads code, or makes the record untrue, is refused in any case, and what only decides with whom claude talks, or
// how a person reads, is not.
func TestLoadersAreTold(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"LD_AUDIT", "BUN_INSPECT_PRELOAD", "NPM_CONFIG_PREFIX", "npm_config_prefix", "GIT_CONFIG_KEY_0", "GIT_SSH", "ENV", "CLAUDE_CODE_SHELL", "CLAUDE_CODE_PLUGIN_DIRS", "PATH",
		"CLAUDE_CONFIG_DIR", "HOME", "CLAUDE_CODE_CHILD_SESSION", "NBS_ROOT",
	} {
		wantKind(t, name, CheckEnv(map[string]string{"OK": "1", name: "x"}), fail.BadInput)
	}
	for _, name := range []string{
		"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "AWS_REGION", "CLAUDE_CODE_USE_BEDROCK",
		"PAGER", "EDITOR", "GIT_AUTHOR_NAME", "ENVIRONMENT", "TZ", "LANG", "PATHS", "TMPDIR", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "DISABLE_AUTOUPDATER",
	} {
		err := CheckEnv(map[string]string{name: "x"})
		rig.Check(t, err == nil, "%s: %v", name, err)
	}
}
