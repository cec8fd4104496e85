package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
	"nbs-worker/internal/supervisor"
	"nbs-worker/internal/tmux"
)

// fullView has something in every field.
func fullView() supervisor.View {
	at := time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC)
	age := 192*time.Second + 300*time.Millisecond
	return supervisor.View{
		Sight: observe.Sight{Pane: &tmux.Pane{}, Dialog: claude.DialogTrust, Record: agent.Record{
			Schema: 1, Handle: "alpha", SessionID: sessionID, Model: "opus", TmuxSession: "nbs-alpha-live", Started: at, InitialPrompt: "Hello.",
			ProjectRoot: "/srv", PID: 12345, Created: at, Cwd: "/srv/lab", PermissionMode: "plan", ClaudeArgs: []string{"--verbose"},
			Env: map[string]string{"HIDDEN": "hidden"}, ConfigDir: "/c", ClaudeVersion: "2.1.329", Desired: agent.DesiredRunning, TranscriptSeen: at,
			Process:          &agent.Process{Invocation: "hidden", Tmux: &agent.TmuxPlace{Socket: "/hidden"}},
			PreviousSessions: []agent.PreviousSession{{SessionID: sessionID, Until: at, Reason: "clear"}},
			Exits: []agent.Exit{
				{At: at, Code: 7},
				{At: at, Invocation: "i", Code: -1, Signal: "killed", HungUp: true, UptimeS: 8121, Error: "e", LastScreen: "bye\n\x1b[31m", EndReason: "other", OutOfMemory: true, OOMKills: 2},
			},
		},
			Status: agent.Status{
				State: agent.Waiting, Cause: "cause", Detail: "permission prompt", Source: "registry", SamePID: true, Uptime: 90*time.Minute + 500*time.Millisecond, Age: &age,
				Retry: &agent.Retry{Attempt: 4, Of: 10, In: 9 * time.Second},
			}},
		Transcript: &claude.Transcript{Path: "/c/t.jsonl", Size: 2048, Modified: at}, Kept: store.Linked,
		Context:   &agent.ContextUse{Tokens: 32_077, Window: 200_000, UsedPercent: 16, Source: agent.SaysStatusLine, At: at},
		Cost:      &agent.Cost{USD: 0.858, Source: agent.SaysStatusLine},
		Usage:     &proc.Usage{RSS: 288 << 20, CPUSeconds: 1.5, Processes: 2},
		Drift:     []supervisor.Drift{{Field: "model", Recorded: "opus", Live: "\x1b[2J"}},
		LastError: &supervisor.LastError{Class: "rate_limit", At: at, Text: "API Error: 429 \x1b[2J\nState: idle"},
	}
}

func rowOf(r agent.Record) supervisor.Row {
	return supervisor.Row{Handle: r.Handle, Sight: observe.Sight{Record: r, Status: agent.Status{State: agent.Dead, Cause: agent.Crashed}}}
}

// fieldsOf returns the paths of all fields of a value as JSON; an array counts by
// its first element.
func fieldsOf(t *testing.T, value any) []string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var decoded any
	if err := json.Unmarshal(text, &decoded); err != nil {
		t.Fatal(err)
	}
	var paths []string
	collect(decoded, "", &paths)
	slices.Sort(paths)
	return paths
}

func collect(value any, path string, paths *[]string) {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			collect(field, path+"."+name, paths)
		}
	case []any:
		if len(v) == 0 {
			*paths = append(*paths, path[1:]+"[]")
			return
		}
		collect(v[0], path+"[]", paths)
	default:
		*paths = append(*paths, path[1:])
	}
}

var listFields = []string{
	"cause", "context_band", "context_left_percent", "cost_usd", "cwd", "desired", "detail", "handle", "model", "pid", "running", "session_id", "started", "state", "state_source", "tmux_session",
}

// The JSON is an interface: a field in it is a promise.
func TestFieldsOfTheJSON(t *testing.T) {
	t.Parallel()
	view := fullView()
	session := append([]string{
		"adopted", "advice[]", "last_error.at", "last_error.class", "last_error.text", "last_exit.end_reason", "last_exit.oom_kills", "last_exit.out_of_memory",
		"claude_args[]", "claude_version", "config_dir", "context.age_s", "context.band", "context.left_percent",
		"context.source", "context.tokens", "context.used_percent", "context.window", "cost.source", "cost.usd", "created",
		"drift[].field", "drift[].live", "drift[].recorded", "initial_prompt", "kept", "last_exit.at", "last_exit.code", "last_exit.error", "last_exit.hung_up",
		"last_exit.invocation", "last_exit.last_screen", "last_exit.signal", "last_exit.uptime_s", "other_claudes[]", "permission_mode",
		"previous_sessions[].reason", "previous_sessions[].session_id", "previous_sessions[].until", "recorded_pid", "retry.attempt", "retry.in_s", "retry.of", "same_process",
		"state_age_ms", "waiting_for",
		"tmux_alive", "transcript.bytes", "transcript.modified", "transcript.path", "uptime_s", "usage.cpu_seconds", "usage.processes", "usage.rss_bytes",
	}, listFields...)
	slices.Sort(session)
	started := supervisor.Started{Record: view.Record, Status: view.Status, Fresh: true, Restored: &supervisor.Restored{}}
	for what, c := range map[string]struct {
		value any
		want  []string
	}{
		"list":    {newListJSON(supervisor.Row{Sight: view.Sight, Context: view.Context, Cost: view.Cost}, agent.DefaultBands), listFields},
		"session": {newSessionJSON(view, agent.DefaultBands, time.Now()), session},
		"spawn": {newStartedJSON(started), []string{
			"handle", "model", "opened", "permission_mode", "pid", "previous_session_id",
			"restored.from", "restored.to", "restored.written", "session_id", "state", "tmux_session",
		}},
		"adopt": {adoptedJSON{ClaudeArgs: []string{"-x"}}, []string{
			"claude_args[]", "config_dir", "cwd", "handle", "model", "permission_mode", "pid", "session_id", "state", "tmux_session",
		}},
		"adopt --list": {newUnrecordedJSON(supervisor.Unrecorded{PID: 7, Agent: "scout", Project: "/p", OpenIn: []int{8}}), []string{
			"agent", "also_open_in[]", "command", "cwd", "obstacle", "pid", "project", "session_id", "state", "tmux",
		}},
		"stop":    {endedJSON{Kept: []string{"/p"}}, []string{"handle", "kept_transcripts[]", "result", "session_id", "was"}},
		"dry run": {planJSON{Args: []string{"-x"}, Restores: "/p"}, []string{"args[]", "config_dir", "cwd", "handle", "opened", "program", "restores_transcript", "session_id", "tmux_session"}},
	} {
		if diff := cmp.Diff(c.want, fieldsOf(t, c.value)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", what, diff)
		}
	}
}

// Nobody's list is empty; what is not known is null.
func TestSessionJSONOfALegacyRecord(t *testing.T) {
	t.Parallel()
	out := newSessionJSON(supervisor.View{Sight: observe.Sight{Record: agent.Record{Handle: "alpha", ProjectRoot: "/srv"}, Status: agent.Status{State: agent.Unknown}}}, agent.DefaultBands, time.Now())
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pid", "uptime_s", "context", "transcript", "usage", "last_exit", "last_error"} {
		if value, there := fields[name]; value != nil || !there {
			t.Errorf("%s is %v, there %t; want null", name, value, there)
		}
	}
	for _, name := range []string{"claude_args", "previous_sessions", "drift", "other_claudes", "advice"} {
		if items, isList := fields[name].([]any); !isList || len(items) != 0 {
			t.Errorf("%s is %v; want an empty list", name, fields[name])
		}
	}
	if fields["permission_mode"] != "bypassPermissions" || fields["desired"] != "running" || fields["cwd"] != "/srv" {
		t.Errorf("what the original tools left open is %v", fields)
	}
}

func TestPreviousSessionIsOnlyOfAFreshStart(t *testing.T) {
	t.Parallel()
	started := supervisor.Started{Record: fullView().Record}
	if got := newStartedJSON(started); got.Previous != "" || got.Opened != "new" {
		t.Errorf("a plain start: %+v", got)
	}
}

// What steers a terminal is in the JSON, for programs, and harmless, for eyes.
func TestJSONIsHarmlessAndWhole(t *testing.T) {
	t.Parallel()
	const text = "\x1b]0;x\a \u009b2J \x7f \u202e \u2066 \u061c \n\t < \u00e9 \U0001f980"
	var out strings.Builder
	f := &factory{streams: Streams{Out: &out}}
	if err := f.printJSON(map[string]string{text: text}); err != nil {
		t.Fatal(err)
	}
	if line := strings.TrimSuffix(out.String(), "\n"); strings.ContainsFunc(line, steers) || strings.ContainsAny(line, "\n\t") {
		t.Errorf("%q", line)
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back[text] != text {
		t.Errorf("%q, %v", back, err)
	}
	if !strings.Contains(out.String(), "< \u00e9 \U0001f980") {
		t.Errorf("escaped without need: %s", out.String())
	}
}
