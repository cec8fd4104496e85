package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"

	"nbs-worker/internal/sim/rig"
)

// fullView has something in every field.
func fullView() inspect.View {
	at := time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC)
	age := 192*time.Second + 300*time.Millisecond
	return inspect.View{
		Sight: observe.Sight{Pane: &tmux.Pane{}, Dialog: screen.DialogTrust, Asked: &agent.Asked{Text: "Bash command\nrm -rf \x1b[2J", Choices: []string{"Yes", "No"}}, Record: agent.Record{
			Spec: agent.Spec{
				Schema: 1, Handle: "alpha", SessionID: sessionID, Model: "opus", InitialPrompt: "Hello.", ProjectRoot: "/srv",
				Cwd: "/srv/lab", PermissionMode: "plan", ClaudeArgs: []string{"--verbose"}, Env: map[string]string{"HIDDEN": "hidden"},
				ConfigDir: "/c", PreviousSessions: []agent.PreviousSession{{SessionID: sessionID, Until: at, Reason: "clear"}},
				Restart: agent.RestartPolicy{Policy: agent.RestartOnFailure},
			},
			Restarts:    agent.Restarts{Counted: []time.Time{at}, Hold: &agent.Hold{Class: agent.EndAuth, Reason: "login\x1b[2J", Since: at}},
			TmuxSession: "nbs-alpha-live", Started: at, PID: 12345, Created: at, ClaudeVersion: "2.1.329",
			Desired: agent.DesiredRunning, TranscriptSeen: at,
			Process: &agent.Process{Invocation: "hidden", Tmux: &agent.TmuxPlace{Socket: "/hidden"}},
			Exits: []agent.Exit{
				{At: at, Code: 7},
				{At: at, Invocation: "i", Code: -1, Signal: "killed", HungUp: true, UptimeS: 8121, Error: "e", LastScreen: "bye\n\x1b[31m", EndReason: "other", OOMKills: 2},
			},
		},
			Status: agent.Status{
				State: agent.Waiting, Cause: "cause", Detail: "permission prompt", Source: "registry", SamePID: true, Uptime: 90*time.Minute + 500*time.Millisecond, Age: &age,
				Retry: &agent.Retry{Attempt: 4, Of: 10, In: 9 * time.Second},
			}},
		Transcript: &transcript.File{Path: "/c/t.jsonl", Size: 2048, Modified: at}, Kept: archive.Linked,
		Context:   &agent.ContextUse{Tokens: 32_077, Window: 200_000, UsedPercent: 16, Source: agent.SaysStatusLine, At: at},
		Cost:      &agent.Cost{USD: 0.858, Source: agent.SaysStatusLine},
		Usage:     &machine.Usage{RSS: 288 << 20, CPUSeconds: 1.5, Processes: 2},
		Drift:     []observe.Drift{{Field: "model", Recorded: "opus", Live: "\x1b[2J"}},
		LastError: &inspect.LastError{Class: "rate_limit", At: at, Text: "API Error: 429 \x1b[2J\nState: idle"},
	}
}

func rowOf(r agent.Record) inspect.Row {
	return inspect.Row{Handle: r.Handle, Sight: observe.Sight{Record: r, Status: agent.Status{State: agent.Dead, Cause: agent.Crashed}}}
}

// What steers a terminal is in the JSON, for programs, and harmless, for eyes.
func TestJSONIsHarmlessAndWhole(t *testing.T) {
	t.Parallel()
	const text = "\x1b]0;x\a \u009b2J \x7f \u202e \u2066 \u061c \n\t < \u00e9 \U0001f980"
	var out strings.Builder
	f := &factory{streams: Streams{Out: &out}}
	rig.Must(t, f.printJSON(map[string]string{text: text}))
	line := strings.TrimSuffix(out.String(), "\n")
	rig.Check(t, !strings.ContainsFunc(line, human.IsUnclear) && !strings.ContainsAny(line, "\n\t"), "%q", line)
	var back map[string]string
	err := json.Unmarshal([]byte(out.String()), &back)
	rig.Check(t, err == nil && back[text] == text, "%q, %v", back, err)
	rig.Check(t, strings.Contains(out.String(), "< \u00e9 \U0001f980"), "escaped without need: %s", out.String())
}
