package security

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// canary is a program that leaves a file when it is run.
func (m *team) canary() (program, trace string) {
	m.Helper()
	trace = filepath.Join(m.T.TempDir(), "ran")
	return m.Script("touch " + trace + "; exit 1"), trace
}

func mustNotHaveRun(t *testing.T, trace string) {
	t.Helper()
	_, err := os.Lstat(trace)
	rig.Check(t, err != nil, "it ran")
}

// The records of the audit: each was seen to run something, or to send something away, before
// Claude's own trust dialog.
func TestRecordOfACloneRunsNothing(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	m.OK("stop", "alpha")
	program, trace := m.canary()
	config := filepath.Join(m.World.Project, "config-of-the-clone")
	m.Must(os.MkdirAll(config, 0o700))
	m.Must(os.WriteFile(filepath.Join(config, "settings.json"), []byte(`{"apiKeyHelper":"`+program+`"}`), 0o600))
	whole := m.RecordText("alpha")
	mcp := `{"mcpServers":{"x":{"command":"` + program + `"}}}`
	for changed, fields := range map[string]map[string]any{
		"env LD_PRELOAD":     {"env": map[string]string{"LD_PRELOAD": program}},
		"env BUN_OPTIONS":    {"env": map[string]string{"BUN_OPTIONS": "--preload " + program}},
		"env base URL":       {"env": map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}},
		"env sandboxed":      {"env": map[string]string{"CLAUDE_CODE_SANDBOXED": "1"}, "claude_args": []string{"--mcp-config", mcp}},
		"config_dir":         {"config_dir": config},
		"claude_args debug":  {"claude_args": []string{"--debug-file", trace}},
		"claude_args plugin": {"claude_args": []string{"--plugin-dir", config}},
		"initial_prompt":     {"initial_prompt": "run " + program, "transcript_seen": nil},
		"permission_mode":    {"permission_mode": "acceptEdits"},
		"session_id":         {"session_id": "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"},
		"cwd":                {"cwd": "/"},
		"restart":            {"restart": map[string]string{"policy": "always"}},
	} {
		m.Plant("alpha", fields)
		field, _, _ := strings.Cut(changed, " ")
		for _, verb := range [][]string{{"resume", "alpha"}, {"resume", "alpha", "--dry-run"}, {"resume", "--all"}, {"resume", "alpha", "--force"}} {
			r := m.NBS(verb...)
			m.MustRefuse(r, 8, "the record is not allowed: changed since it was allowed: ")
			if !strings.Contains(r.Stderr, field) || !strings.Contains(r.Stderr, "hint: look at what it would run, and allow it on a terminal: nbs-worker allow alpha") {
				t.Errorf("%s: %s", changed, r)
			}
		}
		out := m.OK("list")
		m.Check(strings.Contains(out, "not allowed"), "%s: list says\n%s", changed, out)
		out = m.OK("session", "alpha")
		m.Check(strings.Contains(out, "Allowed:         no: the record is not allowed: "), "%s: session says\n%s", changed, out)
		mustNotHaveRun(t, trace)
		m.WriteRecord("alpha", whole)
	}
	m.OK("resume", "alpha")
}

// A record without any seal is nobody's word, whoever owns the file.
func TestRecordWithoutASeal(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	for what, seal := range map[string]any{"none": nil, "empty": map[string]any{"mac": "", "fields": map[string]string{}}, "made up": map[string]any{"mac": "AAAA", "fields": map[string]string{}}} {
		m.Plant("alpha", map[string]any{"seal": seal})
		r := m.Refused(8, "the record is not allowed: it was not written by a command of this user", "resume", "alpha")
		m.Check(!strings.Contains(r.Stderr, "changed"), "%s: %s", what, r)
		m.Refused(8, "not allowed", "resume", "--down")
	}
	copied := m.Record("alpha") // a second one, so that both come back through one recovery
	copied["handle"], copied["tmux_session"] = "beta", "nbs-beta-live"
	m.WriteRecord("beta", e2e.Encoded(m.Team, copied))
	r := m.Refused(8, "resume alpha: the record is not allowed", "resume", "--down")
	m.Check(strings.Contains(r.Stderr, "resume beta: the record is not allowed") && r.Stdout == "", "%v", r)
	c := m.Console(m.Command([]string{"run", "alpha"}))
	c.MustShow("the record is not allowed")
	m.OK("stop", "alpha")
	m.OK("dismiss", "alpha")
}

// What is allowed on a terminal runs, and is shown before: all that the record would run.
func TestAllowIsAskedOfAPerson(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("stop", "alpha")
	m.Plant("alpha", map[string]any{"env": map[string]string{"COLOUR": "red\x1b[31m"}, "claude_args": []string{"--verbose"}})
	m.Refused(8, "only a person can allow, on a terminal", "allow", "alpha")
	no := m.Console(m.Command([]string{"allow", "alpha"}))
	no.MustShow("[y/N] ")
	for _, shown := range []string{
		"Variable:        COLOUR=\"red\\x1b[31m\"", "Arguments:       \"--verbose\"", "Permissions:     bypassPermissions",
		"Folder:          \"" + m.World.Project + "\"", "Changed:         since it was allowed: claude_args, env", "Config folder:   \"" + m.World.ConfigDir,
	} {
		m.Check(strings.Contains(no.Seen.String(), shown), "not shown: %s in\n%s", shown, no.Seen.String())
	}
	no.Types("\n")
	err := no.Cmd.Wait()
	m.Check(no.Cmd.ProcessState.ExitCode() == 1, "%v\n%s", err, no.Seen.String())
	m.Refused(8, "not allowed", "resume", "alpha")
	m.Allow("alpha")
	m.MustRemember("alpha", before)
	s := m.Session("alpha")
	m.Check(strings.Contains(strings.Join(m.Cmdline(s.RecordedPID), " "), "--verbose"), "%+v", s)
	m.MustBeInTheJournal("allow", "alpha", before.SessionID)
	again := m.Console(m.Command([]string{"allow", "alpha"}))
	again.MustShow("alpha: is allowed already")
}

// What was typed before the question is no answer to it.
func TestAllowDoesNotTakeWhatWasTypedBefore(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	m.Plant("alpha", map[string]any{"seal": nil})
	c := m.consoleThat("y\ny\n", m.Command([]string{"allow", "alpha"}))
	c.MustShow("[y/N] ")
	c.Types("n\n")
	err := c.Cmd.Wait()
	m.Check(c.Cmd.ProcessState.ExitCode() == 1, "%v\n%s", err, c.Seen.String())
	m.Refused(8, "not allowed", "resume", "alpha")
}

// The seal is made by the verbs themselves, through all that happens to an agent.
func TestNobodyHasToAllowInTheDailyRound(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	allowed := func(after string) {
		m.Helper()
		out := m.OK("session", "alpha", "--json")
		m.Check(strings.Contains(out, `"allowed":true`), "after %s: %s", after, out)
	}
	allowed("spawn")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	allowed("a crash")
	m.OK("resume", "alpha", "--model", "haiku")
	allowed("resume with another model")
	m.WaitArrived("alpha")
	m.TypeLine(before, "/clear")
	m.WaitMoved(before, "clear")
	allowed("/clear")
	m.Tmux("kill-server")
	m.WaitDead(m.Session("alpha").RecordedPID)
	m.OK("resume", "--down")
	allowed("a lost server")
	m.OK("resume", "alpha", "--force", "--fresh")
	allowed("--fresh")
	m.OK("stop", "alpha")
	allowed("stop")
	m.OK("resume", "alpha")
}

// The key is the user's: who cannot read it cannot seal, and a damaged one is a decision.
func TestKeyOfTheSeals(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	key := m.keyPath()
	info, err := os.Stat(key)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 32 {
		t.Fatalf("%v, %v", info, err)
	}
	whole := e2e.Read(t, key)
	for cause, damage := range map[string]func() error{
		"other users can reach it":   func() error { return os.Chmod(key, 0o644) },
		"it does not have 32 bytes":  func() error { return os.Truncate(key, 5) },
		"it belongs to user id 4711": func() error { return os.Chown(key, 4711, 4711) },
	} {
		m.Must(damage())
		m.Refused(6, cause, "resume", "alpha")
		m.Refused(6, cause, "spawn", "beta")
		m.OK("list")
		m.Must(os.WriteFile(key, []byte(whole), 0o600))
		m.Must(os.Chmod(key, 0o600))
		m.Must(os.Chown(key, os.Geteuid(), os.Getegid()))
	}
	m.Must(os.Remove(key))
	m.Refused(8, "not allowed", "resume", "alpha")
	m.Allow("alpha")
	m.OK("resume", "alpha")
}

func (m *team) keyPath() string {
	return filepath.Join(m.Variable("HOME"), ".local", "state", "nbs-worker", "key")
}
