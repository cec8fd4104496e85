package agents

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// fullView has something in every field.
func fullView() inspect.View {
	at := time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC)
	age := 192*time.Second + 300*time.Millisecond
	return inspect.View{
		Sight: observe.Sight{Pane: &tmux.Pane{}, Dialog: screen.DialogTrust, Asked: &agent.Asked{Text: "Bash command\nrm -rf \x1b[2J", Choices: []string{"Yes", "No"}}, Record: agent.Record{
			Spec: agent.Spec{
				Schema: 1, Handle: "alpha", SessionID: uitest.SessionID, Model: "opus", InitialPrompt: "Hello.", ProjectRoot: "/srv",
				Cwd: "/srv/lab", PermissionMode: "plan", ClaudeArgs: []string{"--verbose"}, Env: map[string]string{"HIDDEN": "hidden"},
				ConfigDir: "/c", PreviousSessions: []agent.PreviousSession{{SessionID: uitest.SessionID, Until: at, Reason: "clear"}},
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
			},
			Report: agent.Report{
				Limits: &agent.Limits{
					FiveHour: &agent.Limit{UsedPercent: 42, ResetsAt: time.Now().Add(90*time.Minute + 30*time.Second)}, SevenDay: &agent.Limit{UsedPercent: 99, ResetsAt: at},
					Since: at,
				},
				Pull:     &agent.PullRequest{Number: 12, URL: "https://example.com/12", ReviewState: "changes_requested"},
				Worktree: &agent.Worktree{Name: "fix", Path: "/srv/fix", Branch: "worktree-fix", OriginalCwd: "/srv", OriginalBranch: "main"},
			}},
		Transcript: &transcript.File{Path: "/c/t.jsonl", Size: 2048, Modified: at}, Kept: archive.Linked,
		Context:   &agent.ContextUse{Tokens: 32_077, Window: 200_000, UsedPercent: 16, Source: agent.SaysStatusLine, At: at},
		Cost:      &agent.Cost{USD: 0.858, Source: agent.SaysStatusLine},
		Usage:     &machine.Usage{RSS: 288 << 20, CPUSeconds: 1.5, Processes: 2},
		Drift:     []observe.Drift{{Field: "model", Recorded: "opus", Live: "\x1b[2J"}},
		LastError: &inspect.LastError{Class: "rate_limit", At: at, Text: "API Error: 429 \x1b[2J\nState: idle"},
	}
}

// shown is what session prints of a view in a pipe, and what it says on stderr.
func shown(t *testing.T, v inspect.View) (string, string) {
	t.Helper()
	var out, said bytes.Buffer
	f := &ui.Factory{Streams: ui.Streams{Out: &out, Err: &said}}
	rig.Must(t, printView(f, v, &attention.Judge{Bands: agent.DefaultBands, Now: time.Now()}))
	return out.String(), said.String()
}

func TestSessionShowsAllThatIsKnown(t *testing.T) {
	t.Parallel()
	view := fullView()
	view.Status.Cause, view.Status.Retry = "", nil
	out, _ := shown(t, view)
	const at = "2026-02-20T11:44:07Z"
	want := strings.Join([]string{
		"Handle:          alpha",
		"State:           waiting: permission prompt for 3m12s, says Claude's registry",
		"Needs you:       waits for 3m12s",
		"Asks:            Bash command",
		"                 rm -rf ?[2J",
		"Choices:         Yes",
		"                 No",
		"Desired:         running",
		"Session ID:      " + string(uitest.SessionID),
		"Model:           opus",
		"Permissions:     plan",
		"Restart:         on-failure; it failed 1 of 5 times, the last time " + at + "; held " + at + " (auth): login?[2J",
		"PID:             12345, running (verified); 2 processes, 288 MiB resident, 1.5s of CPU, 0 B written",
		"Tmux:            nbs-alpha-live, there",
		"Uptime:          1h30m0s",
		"Started:         " + at,
		"First start:     " + at,
		"Context:         16% used, 84% left (healthy): 32,077 of 200,000 tokens; says the status line, " + at,
		"Cost:            $0.86, says the status line",
		"Transcript:      /c/t.jsonl, 2.0 KiB, written " + at,
		"Kept:            also in the archive: Claude may delete its copy",
		"Folder:          /srv/lab",
		"Last exit:       " + at + ", not started: e, after 2h15m21s; its last output:",
		"                 bye",
		"                 ?[31m",
		"Limits:          5 hours: 42% used, resets in 1h; said " + at,
		"Pull request:    #12 changes requested, https://example.com/12",
		`Worktree:        "/srv/fix" on branch "worktree-fix", made from "main"`,
		"Answers:         on: nbs-worker requests alpha",
		`Variable:        HIDDEN="hidden"`,
		`Config folder:   "/c"`,
		`Arguments:       "--verbose"`,
		"Last error:      " + at + ", rate_limit: API Error: 429 ?[2J",
		"                 State: idle",
		"Previous:        " + string(uitest.SessionID) + " until " + at + " (clear)",
		`Drift:           model: recorded "opus", live "\x1b[2J"`,
		"Next:            it asks whether it trusts the folder; answer in its terminal: nbs-worker attach alpha",
		"",
	}, "\n")
	diff := cmp.Diff(want, out)
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
}

func TestSessionSaysWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	out, _ := shown(t, inspect.View{Sight: observe.Sight{
		Record: agent.Record{Spec: agent.Spec{Handle: "alpha", SessionID: uitest.SessionID, ProjectRoot: "/srv"}, TmuxSession: "nbs-alpha-live"},
		Status: agent.Status{State: agent.Dead, Cause: agent.NeverStarted, Source: "record"},
	}})
	for _, want := range []string{
		"never started, says its record", "Claude's choice", "none yet", "nbs-alpha-live, not there", "Uptime:          -",
		"Started:         unknown", "Context:         unknown", "Cost:            unknown", "none yet: claude writes it with the first prompt", "none recorded",
	} {
		rig.Check(t, strings.Contains(out, want), "stdout does not hold %q:\n%s", want, out)
	}
}

func TestSessionOfATranscriptThatIsGone(t *testing.T) {
	t.Parallel()
	out, _ := shown(t, inspect.View{Sight: observe.Sight{Record: agent.Record{Spec: agent.Spec{Handle: "alpha"}, TranscriptSeen: time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC)}}})
	rig.Check(t, strings.Contains(out, "Transcript:      gone; last seen 2026-02-20T11:44:07Z\n"), "stdout is\n%s", out)
}

// Text that an agent or a file chose does not steer the terminal, and does not look
// like a line of ours.
func TestSessionIsHarmless(t *testing.T) {
	t.Parallel()
	out, said := shown(t, inspect.View{Sight: observe.Sight{
		Record: agent.Record{
			Spec: agent.Spec{
				Handle: "alpha", Cwd: "/srv\x1b]0;x\x07",
			},
			TmuxSession: "\u009b2J", Exits: []agent.Exit{{LastScreen: "State:           idle\n\x1b[31mred\r\x08"}},
		},
		Status: agent.Status{State: agent.Waiting, Detail: "\x1b[2Jinput needed\nState: idle", Source: "registry"},
	}})
	rig.Check(t, !strings.ContainsAny(out+said, "\x1b\x07\r\x08\u009b"), "stdout %q, stderr %q", out, said)
	rig.Check(t, strings.Count("\n"+out, "\nState:") == 1, "a line of somebody else's looks like ours:\n%s", out)
}

// Whether a conversation outlives Claude's own transcript is said in each case.
func TestSessionSaysHowATranscriptIsKept(t *testing.T) {
	t.Parallel()
	for want, view := range map[string]inspect.View{
		"Kept:            -\n": {Kept: archive.NotKept},
		"Kept:            in the archive; Claude's copy is gone, and nbs-worker resume restores it\n": {Kept: archive.OnlyCopy},
		"Kept:            a copy in the archive, on another disk\n":                                   {Kept: archive.CopyStale},
		"Kept:            problem: no space left\n":                                                   {Unkept: errors.New("no space left")},
	} {
		out, _ := shown(t, view)
		rig.Check(t, strings.Contains(out, want), "%q is not in\n%s", want, out)
	}
}
