package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"

	"nbs-worker/internal/sim/rig"
)

// shown is what session prints of a view in a pipe, and what it says on stderr.
func shown(t *testing.T, v inspect.View) (string, string) {
	t.Helper()
	var out, said bytes.Buffer
	f := &factory{streams: Streams{Out: &out, Err: &said}}
	rig.Must(t, f.printView(v, agent.DefaultBands))
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
		"Asks:            Bash command",
		"                 rm -rf ?[2J",
		"Choices:         Yes",
		"                 No",
		"Desired:         running",
		"Session ID:      " + string(sessionID),
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
		"Kept:            in the archive too: Claude may delete its own",
		"Folder:          /srv/lab",
		"Last exit:       " + at + ", not started: e, after 2h15m21s; its last words:",
		"                 bye",
		"                 ?[31m",
		`Variable:        HIDDEN="hidden"`,
		`Config folder:   "/c"`,
		`Arguments:       "--verbose"`,
		"Last error:      " + at + ", rate_limit: API Error: 429 ?[2J",
		"                 State: idle",
		"Previous:        " + string(sessionID) + " until " + at + " (clear)",
		`Drift:           model: recorded "opus", live "\x1b[2J"`,
		"Next:            it asks whether it trusts the folder; answer it there: nbs-worker attach alpha",
		"",
	}, "\n")
	diff := cmp.Diff(want, out)
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
}

func TestSessionSaysWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	out, _ := shown(t, inspect.View{Sight: observe.Sight{
		Record: agent.Record{Spec: agent.Spec{Handle: "alpha", SessionID: sessionID, ProjectRoot: "/srv"}, TmuxSession: "nbs-alpha-live"},
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
	rig.Check(t, strings.Contains(out, "Transcript:      gone; last known 2026-02-20T11:44:07Z\n"), "stdout is\n%s", out)
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

func TestSeveralSessionsAreApart(t *testing.T) {
	t.Parallel()
	project := newProject(t, record("alpha"), record("beta"))
	r := run("--root", project, "session", "alpha", "beta").want(t, 0)
	rig.Check(t, strings.Contains(r.out, " resume alpha\n") && strings.Contains(r.out, " resume beta\n"), "no way back:\n%s", r.out)
	rig.Check(t, strings.Count(r.out, "\n\nHandle:") == 1 && strings.HasPrefix(r.out, "Handle:          alpha\n"), "stdout is\n%s", r.out)
	r = run("--root", project, "session", "alpha", "beta", "--json").want(t, 0)
	if strings.Count(r.out, "\n") != 1 || !strings.HasPrefix(r.out, `[{"handle":"alpha",`) || strings.Contains(r.out, "hint") {
		t.Errorf("as JSON, one array:\n%s", r.out)
	}
}

// Whether a conversation outlives Claude's own transcript is said in each case.
func TestSessionSaysHowATranscriptIsKept(t *testing.T) {
	t.Parallel()
	for want, view := range map[string]inspect.View{
		"Kept:            -\n": {Kept: archive.NotKept},
		"Kept:            in the archive; Claude's own is gone, and nbs-worker resume puts it back\n": {Kept: archive.OnlyCopy},
		"Kept:            a copy in the archive, on another disk\n":                                   {Kept: archive.CopyStale},
		"Kept:            not as it should be: no space left\n":                                       {Unkept: errors.New("no space left")},
	} {
		out, _ := shown(t, view)
		rig.Check(t, strings.Contains(out, want), "%q is not in\n%s", want, out)
	}
}
