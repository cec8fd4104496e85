package agent_test

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"

	"nbs-worker/internal/sim/rig"
)

func validRecord() agent.Record {
	return agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Handle: "alpha", SessionID: lowerID, Model: "opus", ProjectRoot: "/srv/project",
			PermissionMode: "plan", InitialPrompt: "Hello.\nGo on.", ClaudeArgs: []string{"--add-dir", "/x"},
			Env: map[string]string{"A": "b"}, ConfigDir: "/c", PreviousSessions: previous(lowerID),
		},
		TmuxSession: "nbs-alpha-live", Process: process(4711), Exits: []agent.Exit{{EndReason: "prompt_input_exit"}, {}},
	}
}

func previous(id string) []agent.PreviousSession {
	return []agent.PreviousSession{{SessionID: agent.SessionID(id), Reason: "clear"}}
}

func process(pid int) *agent.Process {
	return &agent.Process{Invocation: lowerID, Identity: agent.Identity{Identified: agent.Identified{PID: pid}}}
}

func TestValidateTakesAGoodRecord(t *testing.T) {
	t.Parallel()
	r := validRecord()
	err := r.Validate()
	rig.Check(t, err == nil, "%v", err)
	r.Model, r.TmuxSession, r.PermissionMode, r.ConfigDir, r.Cwd = "", "", "", "", "/srv/a dir/#{pid};"
	err = r.Validate()
	rig.Check(t, err == nil, "with less in it: %v", err)
}

func TestValidateRefusesATamperedRecord(t *testing.T) {
	t.Parallel()
	for why, tamper := range map[string]func(*agent.Record){
		"handle that leads out":         func(r *agent.Record) { r.Handle = "../../etc/cron.d/x" },
		"no handle":                     func(r *agent.Record) { r.Handle = "" },
		"session id with a command":     func(r *agent.Record) { r.SessionID = "x; rm -rf ~" },
		"session id that is a flag":     func(r *agent.Record) { r.SessionID = "--dangerously-skip-permissions" },
		"session id in upper case":      func(r *agent.Record) { r.SessionID = agent.SessionID(strings.ToUpper(lowerID)) },
		"no session id":                 func(r *agent.Record) { r.SessionID = "" },
		"model that is a flag":          func(r *agent.Record) { r.Model = "--settings" },
		"model with a command":          func(r *agent.Record) { r.Model = "x; touch F" },
		"unknown permission mode":       func(r *agent.Record) { r.PermissionMode = "godMode" },
		"tmux target":                   func(r *agent.Record) { r.TmuxSession = "$0" },
		"tmux format":                   func(r *agent.Record) { r.TmuxSession = "x#(touch PWN)" },
		"tmux pattern":                  func(r *agent.Record) { r.TmuxSession = "nbs-*" },
		"tmux flag":                     func(r *agent.Record) { r.TmuxSession = "-d" },
		"relative project root":         func(r *agent.Record) { r.ProjectRoot = "project" },
		"no project root":               func(r *agent.Record) { r.ProjectRoot = "" },
		"relative working directory":    func(r *agent.Record) { r.Cwd = "../x" },
		"line break in a path":          func(r *agent.Record) { r.Cwd = "/a\nb" },
		"NUL in a path":                 func(r *agent.Record) { r.Cwd = "/a\x00b" },
		"path that is not UTF-8":        func(r *agent.Record) { r.Cwd = "/caf\xe9" },
		"relative config folder":        func(r *agent.Record) { r.ConfigDir = ".claude" },
		"NUL in the prompt":             func(r *agent.Record) { r.InitialPrompt = "a\x00b" },
		"prompt that is not UTF-8":      func(r *agent.Record) { r.InitialPrompt = "\xff" },
		"NUL in an argument":            func(r *agent.Record) { r.ClaudeArgs = []string{"-d", "\x00"} },
		"variable without a name":       func(r *agent.Record) { r.Env = map[string]string{"": "x"} },
		"variable with a blank":         func(r *agent.Record) { r.Env = map[string]string{"LD PRELOAD": "x"} },
		"pid of init":                   func(r *agent.Record) { r.Process = process(1) },
		"previous id with a command":    func(r *agent.Record) { r.PreviousSessions = previous("x; rm -rf ~") },
		"previous id that is a flag":    func(r *agent.Record) { r.PreviousSessions = previous("--fork-session") },
		"previous id in upper case":     func(r *agent.Record) { r.PreviousSessions = previous(strings.ToUpper(lowerID)) },
		"no previous id":                func(r *agent.Record) { r.PreviousSessions = previous("") },
		"NUL in a previous reason":      func(r *agent.Record) { r.PreviousSessions[0].Reason = "\x00" },
		"reason of an exit that steers": func(r *agent.Record) { r.Exits = []agent.Exit{{EndReason: "\x1b[2J"}} },
		"reason of an exit, endless":    func(r *agent.Record) { r.Exits = []agent.Exit{{EndReason: strings.Repeat("a", 65)}} },
		"NUL in a variable":             func(r *agent.Record) { r.Env = map[string]string{"A": "\x00"} },
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			r := validRecord()
			tamper(&r)
			err := r.Validate()
			rig.Check(t, err != nil && fail.KindOf(err) == fail.BadInput, "Validate() = %v; want bad input", err)
		})
	}
}

func TestValidateRefusesANewerSchemaBeforeAllElse(t *testing.T) {
	t.Parallel()
	r := validRecord()
	r.Schema, r.Model = agent.Schema+1, "not; valid here, but who knows"
	err := r.Validate()
	if fail.KindOf(err) != fail.Unfit {
		t.Fatalf("Validate() = %v; want unfit", err)
	}
	if !strings.Contains(err.Error(), "schema 2") || len(fail.HintsOf(err)) == 0 {
		t.Errorf("it does not say which version is needed: %v, %v", err, fail.HintsOf(err))
	}
}

func TestCheckTmuxName(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"": true, "nbs-alpha-live": true, "nbs-Alpha_1-0a1b2c3d-live": true, strings.Repeat("x", 100): true,
		strings.Repeat("x", 101): false, "a.b": false, "a:b": false, "-a": false, "=a": false, "a b": false,
		"a;": false, "a\n": false, "@1": false, "%1": false, "a#b": false, "\u00e4": false,
	} {
		err := agent.CheckTmuxName(name)
		rig.Check(t, (err == nil) == good, "CheckTmuxName(%q) = %v; want good %t", name, err, good)
	}
}
