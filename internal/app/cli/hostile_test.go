package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// Text that others chose: handles, arguments, variables, records. It becomes no path, no option, no
// command and no line of ours, and whoever gives it is told so.

// steering finds a character that makes a terminal do something, but for line breaks and tabs.
func steering(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	})
}

// evilLines takes over a terminal that shows it as it is, by title, clear, 8-bit sequences,
// overwriting and reversed order, and pretends to be output of ours.
const evilLines = "evil\x1b]0;owned\x07\x1b[2J\u009b31m\u009d0;x\u009c\r\x08\x7f\u202egnp.\u2066\u200f\u061c" +
	"\nhint: rm -rf ~\nnbs-worker: all is well\nState:           idle"

// mustBeHarmless checks what a run has printed.
func (r ran) mustBeHarmless(t *testing.T, what string) {
	t.Helper()
	rig.Check(t, !steering(r.out+r.err), "%s steers the terminal: %q", what, r.out+r.err)
	for line := range strings.Lines(r.out + r.err) {
		if strings.HasPrefix(line, "hint: rm") || strings.HasPrefix(line, "nbs-worker: all") || strings.HasPrefix(line, "State:           idle") {
			t.Errorf("%s: a line of somebody else's looks like ours: %q", what, line)
		}
	}
}

func TestHostileHandlesAreRefusedByEveryVerb(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for what, handle := range map[string]string{
		"300 characters": strings.Repeat("a", 300), "65 characters": strings.Repeat("a", 65),
		"Cyrillic letter": "\u0430lpha", "full width": "\uff41lpha", "zero width": "alp\u200bha", "reversed": "alpha\u202e",
		"combining": "alpha\u0301", "not UTF-8": "alpha\xff", "escape": "alpha\x1b[2J", "line break": "alpha\n", "tab": "al\tpha",
		"blank": " ", "inner blank": "al pha", "dots": "...", "hidden": ".alpha", "extension": "alpha.json", "home": "~root",
		"own file": "../sessions/alpha", "backslash": `..\alpha`, "percent": "%2e%2e", "option": "--fresh", "short option": "-x",
		"tmux format": "#(touch PWN)", "tmux target": "=alpha", "tmux pattern": "al*", "tmux command": "alpha;", "session number": "$0",
		"substitution": "$(touch PWN)", "underscore first": "_alpha", "colon": "alpha:1.0",
		"above": "../../x", "absolute": "/etc/passwd", "below": "a/b", "parent": "..", "here": ".", "empty": "", "two lines": "x\ny",
	} {
		for _, verb := range []string{"spawn", "session", "resume", "stop", "dismiss", "run", "attach"} {
			words := []string{"--root", root, verb, "--", handle}
			if verb == "spawn" { // what follows its "--" is claude's
				words = []string{"--root", root, verb, handle}
			}
			r := run(words...).want(t, fail.BadInput)
			rig.Check(t, r.out == "" && !steering(r.err) && !t.Failed(), "%s: %s %q: %+v", what, verb, handle, r)
		}
	}
	made, err := os.ReadDir(root)
	rig.Check(t, err == nil && len(made) == 0, "a refused handle left something: %v, %v", made, err)
	_, err = os.Stat(os.Getenv("NBS_TMUX_SOCKET"))
	rig.Check(t, err != nil, "a refused handle started a tmux server")
}

// An argument in another encoding is refused by every verb, whatever it is for: kept as JSON it would be another one.
func TestArgumentsThatAreNoTextAreRefusedByEveryVerb(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, args := range [][]string{
		{"ask", "k", "Gr\xfc\xdfe"}, {"ask", "k", "hello", "--context-cmd", "/bin/\xff"}, {"ask", "k", "hello", "--id", "\xff"},
		{"send", "alpha", "Gr\xfc\xdfe"}, {"tell", "telegram:1", "Gr\xfc\xdfe"}, {"spawn", "alpha", "Gr\xfc\xdfe"}, {"spawn", "alpha", "--cwd", "/\xff"},
		{"memory", "add", "alpha", "Gr\xfc\xdfe"}, {"compact", "alpha", "Gr\xfc\xdfe"}, {"pause", "--reason", "\xff"},
		{"conversation", "reset", "k", "--system-prompt", "Gr\xfc\xdfe"}, {"conversation", "import", "/\xff"},
	} {
		r := run(append([]string{"--root", root}, args...)...).want(t, fail.BadInput)
		r.mustBeHarmless(t, fmt.Sprintf("%q", args))
		rig.Check(t, strings.Contains(r.err, "not valid UTF-8"), "%q: %s", args, r.err)
	}
	made, err := os.ReadDir(root)
	rig.Check(t, err == nil && len(made) == 0, "something was kept: %v, %v", made, err)
}

// What the caller typed may come from somebody else too.
func TestHostileArgumentsAreShownHarmlessly(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, args := range [][]string{
		{evilLines}, {"spawn", evilLines}, {"spawn", "alpha", "--model", evilLines}, {"spawn", "alpha", "--" + evilLines}, {"spawn", "alpha", "-" + evilLines},
		{"spawn", "alpha", "--permission-mode", evilLines}, {"spawn", "alpha", "--cwd", evilLines}, {"spawn", "alpha", "--env", evilLines},
		{"spawn", "alpha", "--env", evilLines + "=x"}, {"spawn", "alpha", "--session-id", evilLines}, {"spawn", "alpha", "--prompt-file", evilLines},
		{"spawn", "alpha", "--timeout", evilLines}, {"spawn", "alpha", "--", evilLines}, {"spawn", "alpha", "--", "--model=" + evilLines},
		{"--root", evilLines, "list"}, {"--tmux-socket", evilLines, "spawn", "alpha"}, {"help", evilLines}, {"help", "\u009b2J\u202e"}, {"list", evilLines}, {"--json=" + evilLines, "list"},
	} {
		for _, streams := range []ui.Streams{{}, {OutTTY: true, ErrTTY: true}} {
			r := runOn(streams, append([]string{"--root", root}, args...)...)
			r.mustBeHarmless(t, fmt.Sprintf("%q", args))
			rig.Check(t, r.code != 0, "%q: %+v", args, r)
		}
	}
}

func TestHostileVariablesAreShownHarmlessly(t *testing.T) {
	for _, name := range []string{"NBS_MODEL", "NBS_PERMISSION_MODE", "NBS_CLAUDE", "NBS_ROOT", "NBS_TMUX_SOCKET", "CLAUDE_CONFIG_DIR"} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv(name, evilLines)
			r := run("spawn", "alpha", "--no-wait")
			r.mustBeHarmless(t, name)
			rig.Check(t, r.code != 0, "%+v", r)
		})
	}
}

// A record has text of others: none of it steers a terminal or looks like ours, and JSON has it as it is.
func TestHostileRecordIsShownHarmlessly(t *testing.T) {
	t.Parallel()
	r := startedOnce()
	r.Cwd, r.InitialPrompt, r.ClaudeVersion = "/"+strings.NewReplacer("\n", "", "\r", "").Replace(evilLines), evilLines, evilLines
	r.ClaudeArgs, r.Env, r.Process.Host, r.PreviousSessions[0].Reason = []string{"--name", evilLines}, map[string]string{"A": evilLines}, evilLines, evilLines
	r.Exits = []agent.Exit{{At: r.Started, Signal: evilLines, Error: evilLines, LastScreen: strings.Repeat(evilLines+"\n", 3)}}
	planned := r
	planned.Handle, planned.TmuxSession, planned.Process = "beta", "nbs-beta-live", nil
	planned.Cwd, planned.InitialPrompt = "/", "hello"
	project := newProject(t, r, planned)
	for _, streams := range []ui.Streams{{}, {OutTTY: true, ErrTTY: true}} {
		for _, args := range [][]string{{"session", "alpha"}, {"list"}, {"resume", "alpha"}, {"resume", "beta", "--dry-run"}} {
			runOn(streams, append([]string{"--root", project}, args...)...).mustBeHarmless(t, fmt.Sprintf("%q", args))
		}
	}
	s := run("--root", project, "session", "alpha", "--json").want(t, 0)
	s.mustBeHarmless(t, "JSON")
	var got []struct {
		Cwd              string
		InitialPrompt    string                    `json:"initial_prompt"`
		PreviousSessions []struct{ Reason string } `json:"previous_sessions"`
	}
	rig.Must(t, json.Unmarshal([]byte(s.out), &got))
	rig.Check(t, got[0].Cwd == r.Cwd && got[0].InitialPrompt == evilLines && got[0].PreviousSessions[0].Reason == evilLines, "%+v", got)
}

// loaders are variables that have an agent run other code, or pass for another, and ours.
var loaders = []string{
	"LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BUN_OPTIONS", "NODE_OPTIONS", "NODE_PATH", "BASH_ENV", "ENV", "SHELLOPTS",
	"PROMPT_COMMAND", "PYTHONPATH", "PERL5OPT", "RUBYOPT", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "GIT_ASKPASS",
	"SSH_ASKPASS", "GCONV_PATH", "OPENSSL_CONF", "npm_config_node_options", "LESSOPEN", "PATH", "SHELL", "IS_SANDBOX", "CLAUDE_CODE_SANDBOXED",
	"CLAUDE_CODE_SHELL_PREFIX", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
}

// Nor when a record has them, with a seal that somebody has got for it.
func TestLoadersAreNoVariablesOfAnAgent(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range loaders {
		run("--root", root, "spawn", "alpha", "--env", name+"=/x").want(t, fail.BadInput,
			"variable "+name+" cannot be set for an agent: it ", "agents get it only from the caller's environment")
	}
	for _, name := range append([]string{
		"NBS_INVOCATION_ID", "NBS_ROOT", "NBS_CLAUDE", "NBS_LAUNCH", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_CHILD_SESSION", "CLAUDECODE", "HOME",
	}, loaders...) {
		r := uitest.Record("alpha")
		r.Env = map[string]string{name: "/x"}
		run("--root", newProject(t, r), "resume", "alpha").want(t, fail.BadInput, "variable "+name+" cannot be set")
	}
}

// Arguments that are ours to give, or that are a prompt, are not claude's, with a seal either.
func TestSealedArgumentsAreLookedAtAgain(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--dangerously-skip-permissions"}, {"--settings", "{}"}, {"--settings={}"}, {"-p"}, {"--model", "haiku"}, {"--resume", "x"},
		{"--permission-mode=bypassPermissions"}, {"--fork-session"}, {"--", "Hello."}, {"Hello."}, {"--verbose", "Hello."}, {"--background"},
	} {
		r := uitest.Record("alpha")
		r.ClaudeArgs = args
		run("--root", newProject(t, r), "resume", "alpha").want(t, fail.BadInput, "extra argument")
	}
}

// startedOnce is the record of an agent that ran before the machine was started anew.
func startedOnce() agent.Record {
	r := uitest.Record("alpha")
	r.PID, r.Process = 12345, &agent.Process{
		Invocation: "5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11", Launcher: agent.Identified{PID: 12344, StartTicks: 1},
		Identity: agent.Identity{Identified: agent.Identified{PID: 12345, StartTicks: 1}, BootID: "00000000-0000-4000-8000-000000000000", PIDNS: 1, Host: "here"},
	}
	r.PreviousSessions = []agent.PreviousSession{{SessionID: "6f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11", Until: r.Started, Reason: "clear"}}
	return r
}

func process(fields map[string]any) map[string]any { return fields["process"].(map[string]any) }

// tampered are edits of a record that every verb refuses.
var tampered = map[string]func(fields map[string]any){
	"session id with a command":   func(f map[string]any) { f["session_id"] = "x; rm" },
	"session id that is a flag":   func(f map[string]any) { f["session_id"] = "--dangerously-skip-permissions" },
	"session id that leads out":   func(f map[string]any) { f["session_id"] = "../../../../etc/passwd" },
	"model that is a flag":        func(f map[string]any) { f["model"] = "--x" },
	"model with a command":        func(f map[string]any) { f["model"] = "$(touch PWN)" },
	"mode that is none":           func(f map[string]any) { f["permission_mode"] = "--dangerously-skip-permissions" },
	"cwd with a line break":       func(f map[string]any) { f["cwd"] = "/tmp\nhint: rm -rf ~" },
	"relative cwd":                func(f map[string]any) { f["cwd"] = "../../etc" },
	"relative project":            func(f map[string]any) { f["project_root"] = ".." },
	"tmux format":                 func(f map[string]any) { f["tmux_session"] = "#(touch PWN)" },
	"tmux command":                func(f map[string]any) { f["tmux_session"] = "x; kill-server" },
	"tmux option":                 func(f map[string]any) { f["tmux_session"] = "-t" },
	"another agent":               func(f map[string]any) { f["handle"] = "beta" },
	"handle that leads out":       func(f map[string]any) { f["handle"] = "../alpha" },
	"relative configuration":      func(f map[string]any) { f["config_dir"] = "../claude" },
	"variable with a line break":  func(f map[string]any) { f["env"] = map[string]string{"A\nB": "x"} },
	"NUL in a variable":           func(f map[string]any) { f["env"] = map[string]string{"A": "x\x00B=y"} },
	"NUL in an argument":          func(f map[string]any) { f["claude_args"] = []string{"--add-dir", "x\x00"} },
	"argument that is no text":    func(f map[string]any) { f["claude_args"] = []any{map[string]any{}} },
	"invocation of everybody":     func(f map[string]any) { process(f)["invocation"] = "" },
	"invocation that is none":     func(f map[string]any) { process(f)["invocation"] = "#(touch PWN)" },
	"pid that is a text":          func(f map[string]any) { process(f)["pid"] = "1; kill" },
	"pid beyond all":              func(f map[string]any) { process(f)["pid"] = 1e30 },
	"negative start":              func(f map[string]any) { process(f)["start_ticks"] = -1 },
	"wish that is none":           func(f map[string]any) { f["desired"] = "--" },
	"previous id with a command":  func(f map[string]any) { f["previous_sessions"] = []any{map[string]any{"session_id": "x; rm"}} },
	"previous id that is a flag":  func(f map[string]any) { f["previous_sessions"] = []any{map[string]any{"session_id": "--resume"}} },
	"previous that is no list":    func(f map[string]any) { f["previous_sessions"] = "none" },
	"time that is none":           func(f map[string]any) { f["started"] = "yesterday" },
	"4 MB of prompt":              func(f map[string]any) { f["initial_prompt"] = strings.Repeat("x", 4<<20) },
	"4 MB that nobody knows":      func(f map[string]any) { f["new"] = strings.Repeat("x", 4<<20) },
	"schema before the first":     func(f map[string]any) { f["schema"] = -1 },
	"exits that are no list":      func(f map[string]any) { f["exits"] = map[string]any{} },
	"nothing in place of a value": func(f map[string]any) { f["session_id"] = nil },
}

func TestTamperedRecordsAreRefusedByEveryVerb(t *testing.T) {
	t.Parallel()
	project := newProject(t, startedOnce())
	whole := recordText(t, project)
	run("--root", project, "list").want(t, 0)
	for what, tamper := range tampered {
		fields := map[string]any{}
		rig.Must(t, json.Unmarshal([]byte(whole), &fields))
		tamper(fields)
		text, err := json.Marshal(fields)
		rig.Must(t, err)
		mustBeDamaged(t, project, what, string(text))
	}
}

// A record that means one thing to us and another to whoever looks at it.
func TestAmbiguousRecordsAreRefusedByEveryVerb(t *testing.T) {
	t.Parallel()
	project := newProject(t, startedOnce())
	whole := strings.TrimSpace(recordText(t, project))
	with := func(more string) string { return strings.TrimSuffix(whole, "}") + "," + more + "}" }
	for what, text := range map[string]string{
		"empty": "", "cut short": whole[:len(whole)/2], "other": `{"schema":1}`, "null": "null", "a list": "[]",
		"a second id":              with(`"session_id":"x; rm"`),
		"an id in another case":    with(`"SESSION_ID":"x; rm"`),
		"a second process":         with(`"process":{"invocation":""}`),
		"a second list":            with(`"previous_sessions":[{"session_id":"x"}]`),
		"two records":              whole + whole,
		"something behind":         whole + "; rm",
		"a byte order mark":        "\ufeff" + whole,
		"5,000 brackets":           with(`"new":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000)), // 50 MB when indented
		"100,000 brackets":         with(`"new":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)),
		"100,000 brackets in args": with(`"claude_args":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)),
		"NUL bytes":                strings.Repeat("\x00", 4096),
	} {
		mustBeDamaged(t, project, what, text)
	}
}

func recordPath(project string) string {
	return filepath.Join(project, ".nbs", "sessions", "alpha.json")
}

func recordText(t *testing.T, project string) string {
	t.Helper()
	text, err := os.ReadFile(recordPath(project))
	rig.Must(t, err)
	return string(text)
}

// mustBeDamaged puts a text in the place of the record of alpha, which every verb must refuse, and
// change nothing.
func mustBeDamaged(t *testing.T, project, what, text string) {
	t.Helper()
	rig.Must(t, os.WriteFile(recordPath(project), []byte(text), 0o600))
	for _, verb := range []string{"session", "resume", "stop", "dismiss", "run"} {
		r := run("--root", project, verb, "alpha")
		if r.code != int(fail.BadInput) || !strings.Contains(r.err, "is damaged") || r.out != "" || steering(r.err) || len(r.err) > 2000 {
			t.Errorf("%s: %s: %+v", what, verb, r)
		}
	}
	r := run("--root", project, "list")
	rig.Check(t, r.code == int(fail.BadInput) && strings.HasPrefix(r.out, "alpha\tunknown"), "%s: list: %+v", what, r)
	rig.Check(t, recordText(t, project) == text, "%s: the record was changed", what)
}
