package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Files: what we write is nobody else's to read or write, and what we read may have
// been written by anybody.

func TestEverythingIsPrivateWhateverTheUmask(t *testing.T) {
	for _, umask := range []string{"000", "022", "077"} {
		t.Run(umask, func(t *testing.T) {
			m := standIn(t)
			m.under("umask " + umask)
			nbs := m.inNbs()
			for _, args := range [][]string{
				{"spawn", "alpha", "--prompt", "Remember 42.", "--trust"}, {"session", "alpha"}, {"list"}, {"stop", "alpha"},
				{"resume", "alpha", "--prompt", "What number?"}, {"resume", "alpha", "--force", "--fresh"}, {"dismiss", "alpha"},
			} {
				m.ok(args...)
				rig.MustBePrivate(t, nbs, 2)
				rig.MustBePrivate(t, m.inState(), 2)
				rig.MustBePrivate(t, filepath.Join(m.world.RunDir, "nbs-worker"), 0)
				if left := m.launchFiles(); len(left) > 0 {
					t.Errorf("%s left the caller's environment: %q", args[0], left)
				}
			}
		})
	}
}

// What is written into Claude's configuration, and the folder where there is none.
func TestTrustedConfigurationIsPrivate(t *testing.T) {
	m := standIn(t)
	m.under("umask 000")
	config := filepath.Join(m.world.Root, "new", "config")
	m.env = append(m.env, "CLAUDE_CONFIG_DIR="+config, "NBS_CLAUDE="+m.script("exit 1"))
	m.refused(1, "claude left", "spawn", "alpha", "--trust")
	rig.MustBePrivate(t, config, 2)
}

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
	"1 MB of prompt":              func(f map[string]any) { f["initial_prompt"] = strings.Repeat("x", 1<<20) },
	"1 MB that nobody knows":      func(f map[string]any) { f["new"] = strings.Repeat("x", 1<<20) },
	"schema before the first":     func(f map[string]any) { f["schema"] = -1 },
	"exits that are no list":      func(f map[string]any) { f["exits"] = map[string]any{} },
	"nothing in place of a value": func(f map[string]any) { f["session_id"] = nil },
}

func TestTamperedRecordsAreRefusedByEveryVerb(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	whole := m.recordText("alpha")
	for what, tamper := range tampered {
		m.writeRecord("alpha", whole)
		m.setRecord("alpha", tamper)
		m.mustBeDamaged(what)
	}
	m.noCanary()
}

// mustBeDamaged checks that every verb refuses the record of alpha, and changes nothing.
func (m *team) mustBeDamaged(what string) {
	m.Helper()
	text := m.recordText("alpha")
	for _, verb := range knownVerbs {
		r := m.nbs(verb, "alpha")
		if r.code != 4 || !strings.Contains(r.stderr, "is damaged") || r.stdout != "" || steering(r.stderr) || len(r.stderr) > 2000 {
			m.Errorf("%s: %s: %s", what, verb, r)
		}
	}
	if r := m.nbs("list"); r.code != 4 || !strings.HasPrefix(r.stdout, "alpha\tunknown") {
		m.Errorf("%s: list: %s", what, r)
	}
	if m.recordText("alpha") != text {
		m.Errorf("%s: the record was changed", what)
	}
}

// A record that means one thing to us and another to whoever looks at it.
func TestAmbiguousRecords(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	whole := strings.TrimSpace(m.recordText("alpha"))
	with := func(more string) string { return strings.TrimSuffix(whole, "}") + "," + more + "}" }
	for what, text := range map[string]string{
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
		m.writeRecord("alpha", text)
		m.mustBeDamaged(what)
	}
	// What a later version may have nested is kept.
	m.writeRecord("alpha", with(`"new":`+strings.Repeat("[", 50)+strings.Repeat("]", 50)))
	m.ok("resume", "alpha")
	if !strings.Contains(strings.Join(strings.Fields(m.recordText("alpha")), ""), strings.Repeat("[", 50)) {
		t.Error("an unknown field was lost")
	}
}

// Words that are harmless to keep and not to use: they are looked at again before
// claude gets them, and an agent with such a record can still be ended.
func TestTamperedArgumentsAndVariablesAreNotUsed(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	whole := m.recordText("alpha")
	for _, args := range [][]string{
		{"--dangerously-skip-permissions"}, {"--settings", "{}"}, {"--settings={}"}, {"-p"}, {"--model", "haiku"}, {"--resume", "x"},
		{"--permission-mode=bypassPermissions"}, {"--fork-session"}, {"--", "Hello."}, {"Hello."}, {"--verbose", "Hello."}, {"--background"},
	} {
		m.setRecord("alpha", func(fields map[string]any) { fields["claude_args"] = args })
		m.refused(8, "changed since it was allowed: claude_args", "resume", "alpha", "--force")
		m.allow("alpha")
		m.refused(4, "extra argument", "resume", "alpha", "--force")
	}
	m.writeRecord("alpha", whole)
	for _, name := range []string{"NBS_INVOCATION_ID", "NBS_ROOT", "NBS_CLAUDE", "NBS_LAUNCH", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_CHILD_SESSION", "CLAUDECODE", "HOME"} {
		m.setRecord("alpha", func(fields map[string]any) { fields["env"] = map[string]string{name: "x"} })
		m.refused(8, "not allowed", "resume", "alpha", "--force")
		m.allow("alpha")
		m.refused(4, "variable "+name+" cannot be set", "resume", "alpha", "--force")
	}
	if s := m.session("alpha"); !s.Running {
		t.Errorf("a refused resume ended the agent: %+v", s)
	}
	m.ok("stop", "alpha")
}

// More than a record may hold is refused before anything is started, not found damaged
// at the next look.
func TestRecordThatWouldBeTooLargeIsRefused(t *testing.T) {
	m := standIn(t)
	args := []string{"spawn", "alpha"}
	for i := range 11 {
		args = append(args, "--env", fmt.Sprintf("V%d=%s", i, strings.Repeat("x", 100<<10)))
	}
	m.refused(4, "the limit is", args...)
	if _, err := os.Stat(m.recordPath("alpha")); err == nil || m.serverPID() != 0 {
		t.Error("something was left")
	}
	if r := m.nbs("list", "--json"); r.code != 0 || strings.TrimSpace(r.stdout) != "[]" {
		t.Error(r)
	}
}

// A project that another user prepared decides nothing, whoever names it.
func TestProjectOfAnotherUserIsRefused(t *testing.T) {
	m := standIn(t)
	rig.NeedsRoot(t)
	theirs := m.folder("theirs")
	rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{theirs}})
	nbs := filepath.Join(theirs, ".nbs")
	m.ok("--root", theirs, "spawn", "alpha")
	m.ok("--root", theirs, "stop", "alpha")
	rig.GiveAway(t, theirs)
	before := m.snapshot(nbs)
	inside := m.folder("theirs/deep/below")
	for how, run := range map[string]func(args ...string) result{
		"--root":   func(args ...string) result { return m.nbs(append([]string{"--root", theirs}, args...)...) },
		"NBS_ROOT": func(args ...string) result { return m.nbsWith([]string{"NBS_ROOT=" + theirs}, args...) },
		"found upward": func(args ...string) result {
			m.dir = inside
			defer func() { m.dir = m.world.Project }()
			return m.nbs(args...)
		},
	} {
		for _, args := range [][]string{
			{"list"}, {"session", "alpha"}, {"resume", "alpha"}, {"stop", "alpha"}, {"dismiss", "alpha"}, {"run", "alpha"}, {"spawn", "beta"}, {"spawn", "beta", "--dry-run"},
		} {
			if r := run(args...); r.code != 4 || !strings.Contains(r.stderr, "belongs to user id 65534") {
				t.Errorf("%s, %q: %s", how, args, r)
			}
		}
	}
	if after := m.snapshot(nbs); after != before {
		t.Errorf("something was written\nbefore %s\nafter %s", before, after)
	}
	// Also when only the record is theirs, in folders of ours.
	for _, dir := range []string{"", "sessions", "locks", "status"} {
		if err := os.Chown(filepath.Join(nbs, dir), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, verb := range []string{"session", "resume", "stop", "dismiss"} {
		m.refused(4, "alpha.json\" belongs to user id 65534", "--root", theirs, verb, "alpha")
	}
}
