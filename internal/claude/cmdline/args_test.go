package cmdline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

const sessionID = agent.SessionID("4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")

func TestArgs(t *testing.T) {
	t.Parallel()
	const quiet = `{"a":1}`
	for what, c := range map[string]struct {
		record  agent.Spec
		opening Opening
		prompt  string
		want    []string
	}{
		"a new one with a prompt": {
			agent.Spec{SessionID: sessionID, Model: "opus[1m]", PermissionMode: "plan"}, OpenNew, "Hello.",
			[]string{"--session-id", string(sessionID), "--model", "opus[1m]", "--permission-mode", "plan", "--settings", quiet, "--", "Hello."},
		},
		"a resume without a model": {
			agent.Spec{SessionID: sessionID}, OpenResume, "",
			[]string{"--resume", string(sessionID), "--permission-mode", "bypassPermissions", "--settings", quiet},
		},
		"extra arguments, the last of which takes a list": {
			agent.Spec{SessionID: sessionID, ClaudeArgs: []string{"--verbose", "--allowedTools", "Bash"}}, OpenResume, "Go on.",
			[]string{
				"--resume", string(sessionID), "--permission-mode", "bypassPermissions", "--settings", quiet,
				"--verbose", "--allowedTools", "Bash", "--", "Go on.",
			},
		},
		"a prompt that looks like an option": {
			agent.Spec{SessionID: sessionID}, OpenNew, "--model haiku; $(touch F)\n-d",
			[]string{"--session-id", string(sessionID), "--permission-mode", "bypassPermissions", "--settings", quiet, "--", "--model haiku; $(touch F)\n-d"},
		},
		"a fork": {
			agent.Spec{SessionID: sessionID, ForkOf: "5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"}, OpenNew, "",
			[]string{"--resume", "5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11", "--fork-session", "--session-id", string(sessionID), "--permission-mode", "bypassPermissions", "--settings", quiet},
		},
		"a resumed fork": {
			agent.Spec{SessionID: sessionID, ForkOf: "5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"}, OpenResume, "",
			[]string{"--resume", string(sessionID), "--permission-mode", "bypassPermissions", "--settings", quiet},
		},
		"an agent with a handle": {
			agent.Spec{Handle: "alpha", SessionID: sessionID}, OpenResume, "",
			[]string{"--resume", string(sessionID), "--permission-mode", "bypassPermissions", "-n", "alpha", "--settings", quiet},
		},
		"an agent with a name of the user's": {
			agent.Spec{Handle: "alpha", SessionID: sessionID, ClaudeArgs: []string{"-nTheo"}}, OpenResume, "",
			[]string{"--resume", string(sessionID), "--permission-mode", "bypassPermissions", "--settings", quiet, "-nTheo"},
		},
		"an agent with a long form of it": {
			agent.Spec{Handle: "alpha", SessionID: sessionID, ClaudeArgs: []string{"--name=Theo"}}, OpenResume, "",
			[]string{"--resume", string(sessionID), "--permission-mode", "bypassPermissions", "--settings", quiet, "--name=Theo"},
		},
	} {
		rig.Same(t, what, c.want, Args(&c.record, c.opening, c.prompt, quiet))
	}
}

func TestReadArgsReadsWhatArgsWrote(t *testing.T) {
	t.Parallel()
	record := agent.Spec{Handle: "alpha", SessionID: sessionID, Model: "sonnet", PermissionMode: "plan", ClaudeArgs: []string{"--add-dir", "/x"}}
	want := Recorded{SessionID: string(sessionID), Model: "sonnet", PermissionMode: "plan"}
	for _, opening := range []Opening{OpenNew, OpenResume} {
		line := append([]string{"/usr/bin/claude"}, Args(&record, opening, "--model haiku", `{"hooks":{}}`)...)
		got, known := ReadArgs(line)
		diff := cmp.Diff(want, got)
		rig.Check(t, diff == "" && known, "%s: known %t, -want +got:\n%s", opening, known, diff)
	}
}

func TestReadArgs(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		line  []string
		want  Recorded
		known bool
	}{
		"nothing":                    {nil, Recorded{}, false},
		"a title in place of it":     {[]string{"claude: working on it --model haiku"}, Recorded{}, false},
		"only a prompt":              {[]string{"claude", "--", "--resume", "x"}, Recorded{}, false},
		"words of the prompt":        {[]string{"claude", "--resume", "a", "--", "--model", "b"}, Recorded{SessionID: "a"}, true},
		"an option without value":    {[]string{"claude", "--permission-mode", "plan", "--model"}, Recorded{PermissionMode: "plan"}, true},
		"no option of the record":    {[]string{"claude", "--verbose"}, Recorded{}, false},
		"a stranger's without model": {[]string{"node", "cli.js", "--resume", "a"}, Recorded{SessionID: "a"}, true},
		"the short form":             {[]string{"claude", "-r", "a", "--verbose"}, Recorded{SessionID: "a"}, true},
		"the short form, joined":     {[]string{"claude", "-ra"}, Recorded{SessionID: "a"}, true},
		"a resume, joined":           {[]string{"claude", "--resume=a", "--model=b"}, Recorded{SessionID: "a", Model: "b"}, true},
		"a new one, joined":          {[]string{"claude", "--session-id=a"}, Recorded{SessionID: "a"}, true},
		"a value that looks like it": {[]string{"claude", "--session-id", "a", "--append-system-prompt", "-read it"}, Recorded{SessionID: "a"}, true},
	} {
		got, known := ReadArgs(c.line)
		diff := cmp.Diff(c.want, got)
		rig.Check(t, diff == "" && known == c.known, "%s: known %t, want %t, -want +got:\n%s", what, known, c.known, diff)
	}
}

// A person writes the id in any form that claude takes: it advises "claude -r ID" itself.
func TestRunsOn(t *testing.T) {
	t.Parallel()
	id := string(sessionID)
	for _, args := range [][]string{{"-r", id}, {"-r" + id}, {"--resume", id}, {"--resume=" + id}, {"--session-id", id}, {"--session-id=" + id}} {
		rig.Check(t, RunsOn(append([]string{"/usr/bin/claude"}, args...), sessionID), "%q is not seen", args)
		rig.Check(t, !RunsOn(append([]string{"less"}, args...), sessionID), "%q counts for another program", args)
		rig.Check(t, !RunsOn(append([]string{"claude"}, args...), agent.NewSessionID()), "%q counts for another conversation", args)
	}
}

func TestCheckExtraArgsTakes(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		nil, {"--verbose"}, {"--add-dir", "/x y", "../z"}, {"--allowedTools", "Bash(git *)", "Edit"}, {"--mcp-config={\"a\":1}"},
		{"-d", "api,hooks"}, {"-dapi"}, {"-n", "Theo"}, {"-d", "--verbose"}, {"--tools", ""}, {"--not-known-yet", "x", "--verbose"},
		{"--append-system-prompt", "- be brief", "--verbose"}, {"--append-system-prompt=--model haiku"}, {"--add-dir", "a;", "b;"}, {"--fallback-model", "sonnet"}, {"--append-system-prompt", "Be brief; $(x)\nplease."},
	} {
		err := CheckExtraArgs(args)
		rig.Check(t, err == nil, "CheckExtraArgs(%q): %v", args, err)
	}
}

func TestCheckExtraArgsRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"Hello."}, {""}, {"--resume", "x"}, {"--resume=x"}, {"-r"}, {"-rx"}, {"-r=x"}, {"-c"}, {"-cp"}, {"-p"}, {"-pd"}, {"--print"},
		{"--session-id=x"}, {"--verbose", "--continue"}, {"--fork-session"}, {"--model", "haiku"}, {"--model=haiku"},
		{"--permission-mode=plan"}, {"--dangerously-skip-permissions"}, {"--settings", "{}"}, {"--settings={}"}, {"--bg"}, {"--from-pr", "1"},
		{"--no-session-persistence"}, {"--version"}, {"-v"}, {"-h"}, {"--verbose", "--", "Hello."},
		{"--background"}, {"--teleport"}, {"--cloud", "x"}, {"--desktop"}, {"--tmux"}, {"--environment=x"},
		{"--verbose", "Hello."}, {"--verbose", ""}, {"--effort=high", "Hello."}, {"--effort", "high", "Hello."}, {"-dapi", "Hello."},
		{"-d", "api", "Hello."}, {"--not-known-yet", "x", "Hello."}, {"--append-system-prompt", "- be brief", "Hello."},
		{"--add-dir", "a", "--verbose", "Hello."}, {"--add-dir=a", "b"}, {"-"}, {"--verbose", "-"},
		{"--add-dir", "a\x00b"}, {"--add-dir", "\xff"},
	} {
		err := CheckExtraArgs(args)
		rig.Check(t, fail.KindOf(err) == fail.BadInput, "%q: %v", args, err)
		rig.Check(t, err == nil || !strings.ContainsAny(err.Error(), "\x00\x1b"), "%q: the message is %q", args, err)
	}
}

// Command lines of 2.1.329, which names the processes of its sessions in the background.
func TestIsBackground(t *testing.T) {
	t.Parallel()
	for _, cmdline := range [][]string{
		{"/opt/claude/2.1.329", "daemon", "run", "--origin", "transient", "--spawned-by", `{"pid":1}`},
		{"/opt/claude", "daemon", "run", "--json-path", "/x", "--log-file", "/y", "--origin", "transient"},
		{"claude bg-pty-host", "--bg-pty-host", "/tmp/x.sock", "200", "50", "--", "/opt/claude", "--bg-spare", "/tmp/y.sock"},
		{"claude bg-spare", "--bg-spare", "/tmp/y.sock"},
	} {
		rig.Check(t, IsBackground(cmdline), "%q", cmdline)
	}
	for _, cmdline := range [][]string{nil, {"claude"}, {"claude", "daemon", "status"}, {"claude", "say --bg-spare"}, {"claude", "--bg", "hello"}, {"dockerd", "daemon"}} {
		rig.Check(t, !IsBackground(cmdline), "%q counts as of the background", cmdline)
	}
}
