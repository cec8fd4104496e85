package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/testscript"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/e2e"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
)

// scriptCommands are what a script can do besides the commands of testscript:
//
//   - exits CODE program [args...]
//     Run a program, which must end with the exit code. What it prints with --json must be as the schema has it.
//   - refused CODE PATTERN program [args...]
//     The same, and the program must print nothing on stdout, and on stderr what matches the pattern. A word
//     "{a,b c}" stands for two runs, one with the word a and one with the words b and c.
//   - agent HANDLE [FIELD=VALUE...]
//     Write the record of an agent that was started and stopped here, as a spawn and a stop leave it, with the user's
//     seal. The variable HANDLE_ID is the id of its conversation.
//   - edit FILE FIELD=VALUE...
//     Change fields of a JSON file behind the program's back; no value removes a field. FIELD may lead into objects
//     and lists: process.tmux.socket, exits.0.
//
// A VALUE is JSON; what is no JSON is a string. For exec and exits there is one more program,
//
//	terminal [-before TEXT] [-type TEXT] program [args...]
//
// which runs another one on a terminal of its own, where TEXT is typed before it starts, and when it asks a question.
func scriptCommands(t *testing.T) map[string]func(*testscript.TestScript, bool, []string) {
	positive := func(name string, least int, do func(*testscript.TestScript, []string)) func(*testscript.TestScript, bool, []string) {
		return func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < least {
				ts.Fatalf("%s: see scriptCommands for its use", name)
			}
			do(ts, args)
		}
	}
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits":   positive("exits", 2, func(ts *testscript.TestScript, args []string) { exits(t, ts, args[0], args[1:]) }),
		"refused": positive("refused", 3, func(ts *testscript.TestScript, args []string) { refused(t, ts, args[0], args[1], args[2:]) }),
		"agent":   positive("agent", 1, func(ts *testscript.TestScript, args []string) { ts.Check(writeAgent(ts, args[0], args[1:])) }),
		"edit":    positive("edit", 2, func(ts *testscript.TestScript, args []string) { ts.Check(editFile(ts.MkAbs(args[0]), args[1:])) }),
	}
}

func exits(t *testing.T, ts *testscript.TestScript, code string, args []string) {
	err := ts.Exec(args[0], args[1:]...)
	got := 0
	if failure, is := errors.AsType[*exec.ExitError](err); is {
		got = failure.ExitCode()
	} else {
		ts.Check(err)
	}
	if want, err := strconv.Atoi(code); err != nil || got != want {
		ts.Fatalf("%q ended with %d; want %s", args, got, code)
	}
	e2e.CheckSchema(t, args, e2e.Result{Code: got, Stdout: ts.ReadFile("stdout"), Stderr: ts.ReadFile("stderr")})
}

func refused(t *testing.T, ts *testscript.TestScript, code, pattern string, args []string) {
	expression, err := regexp.Compile("(?m)" + pattern)
	ts.Check(err)
	for _, run := range expanded(args) {
		exits(t, ts, code, run)
		if ts.ReadFile("stdout") != "" || !expression.MatchString(ts.ReadFile("stderr")) {
			ts.Fatalf("%q does not say %q on stderr alone", run, pattern)
		}
	}
}

// expanded are the command lines for which one with a word {a,b c} stands.
func expanded(args []string) [][]string {
	for i, word := range args {
		if inner, is := strings.CutPrefix(word, "{"); is && strings.HasSuffix(inner, "}") {
			var all [][]string
			for each := range strings.SplitSeq(strings.TrimSuffix(inner, "}"), ",") {
				all = append(all, expanded(slices.Concat(args[:i], strings.Fields(each), args[i+1:]))...)
			}
			return all
		}
	}
	return [][]string{args}
}

// noProcess is the pid of nobody: it is beyond the largest that the kernel gives.
const noProcess = 1 << 22

func writeAgent(ts *testscript.TestScript, handle string, fields []string) error {
	here, err := local.New().Self()
	if err != nil {
		return err
	}
	project := ts.MkAbs(".")
	started := time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC)
	nobody := agent.Identified{PID: noProcess, StartTicks: 1}
	invocation := agent.Invocation(idOf("start of " + handle))
	r := agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Handle: agent.Handle(handle), SessionID: agent.SessionID(idOf(handle)), Model: "sonnet",
			PermissionMode: agent.BypassPermissions, ProjectRoot: project, Cwd: project, ConfigDir: ts.Getenv("CLAUDE_CONFIG_DIR"),
			ClaudeArgs: []string{}, Env: map[string]string{}, Restart: agent.RestartPolicy{Policy: "no"},
		},
		TmuxSession: "nbs-" + handle + "-live", Started: started, Created: started, PID: noProcess, Desired: agent.DesiredStopped,
		Process: &agent.Process{
			Invocation: invocation, Identity: agent.Identity{Identified: nobody, BootID: here.BootID, PIDNS: here.PIDNS, Host: here.Host},
			Launcher: nobody,
			Tmux:     &agent.TmuxPlace{Socket: "default", Path: filepath.Join(ts.Getenv("TMUX_TMPDIR"), "tmux-0", "default"), ServerPID: noProcess, ServerStartTicks: 1},
		},
		Exits: []agent.Exit{{At: started.Add(time.Hour), Invocation: invocation, Code: 143, UptimeS: 3600}},
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if text, err = edited(text, fields); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	ts.Setenv(strings.ToUpper(handle)+"_ID", string(r.SessionID))
	return insert(ts, project, r)
}

// insert writes a record as a verb does that this user runs.
func insert(ts *testscript.TestScript, project string, r agent.Record) error {
	home, err := trust.HomeOf([]string{"HOME=" + ts.Getenv("HOME"), "NBS_STATE=" + ts.Getenv("NBS_STATE"), "XDG_STATE_HOME=" + ts.Getenv("XDG_STATE_HOME")})
	if err != nil {
		return err
	}
	s, err := store.Create(project)
	if err != nil {
		return err
	}
	defer s.Close()
	s.Use(trust.NewKeeper(home))
	unlock, err := s.LockVerb(r.Handle, "spawn", time.Now())
	if err != nil {
		return err
	}
	defer unlock()
	return s.Insert(context.Background(), r)
}

// idOf is a UUID that a name has in each script.
func idOf(name string) string { return uuid.NewSHA1(uuid.Nil, []byte(name)).String() }

func editFile(path string, fields []string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if text, err = edited(text, fields); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0) // with the mode that it has
}

// edited is a JSON object after some fields FIELD=VALUE were set in it.
func edited(text []byte, fields []string) ([]byte, error) {
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	for _, field := range fields {
		path, value, is := strings.Cut(field, "=")
		if !is {
			return nil, fmt.Errorf("%q is not FIELD=VALUE", field)
		}
		if err := setField(object, strings.Split(path, "."), value); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return json.Marshal(object)
}

func setField(in any, path []string, value string) error {
	for len(path) > 1 {
		switch container := in.(type) {
		case map[string]any:
			in = container[path[0]]
		case []any:
			index, err := strconv.Atoi(path[0])
			if err != nil || index >= len(container) {
				return fmt.Errorf("there is no %q", path[0])
			}
			in = container[index]
		}
		path = path[1:]
	}
	object, is := in.(map[string]any)
	if !is {
		return errors.New("it is not in an object")
	}
	if value == "" {
		delete(object, path[0])
		return nil
	}
	var decoded any
	if err := json.Unmarshal([]byte(value), &decoded); err != nil {
		decoded = value
	}
	object[path[0]] = decoded
	return nil
}
