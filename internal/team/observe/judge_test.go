package observe

import (
	"errors"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/platform/machine"

	"nbs-worker/internal/sim/rig"
)

var now = time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC)

func entry(status string) *live.Entry {
	return &live.Entry{Status: status, UpdatedMS: now.Add(-2 * time.Second).UnixMilli()}
}

func said(state agent.State, hook, detail string) agent.Report {
	return agent.Report{Activity: &agent.Activity{State: state, Detail: detail, Hook: hook, At: now.Add(-3 * time.Second)}}
}

func goodbye() agent.Report {
	report := said(agent.Busy, "UserPromptSubmit", "")
	report.End = &agent.End{Reason: "other"}
	return report
}

var (
	retrying = screen.Reading{State: agent.Retrying, Retry: &agent.Retry{Attempt: 4, Of: 10, In: 9 * time.Second}}
	idle     = screen.Reading{State: agent.Idle}
	busy     = screen.Reading{State: agent.Busy}
	full     = screen.Reading{State: agent.Idle, Trouble: screen.TroubleContextFull}
	trust    = screen.Reading{State: agent.Waiting, Dialog: screen.DialogTrust}
	unknown  = screen.Reading{State: agent.Unknown}
	left     = screen.Reading{State: agent.Dead}
	limited  = &agent.Failure{Class: "rate_limit"}
)

const young, old = time.Second, time.Hour // since its start

var living = map[string]struct {
	entry   *live.Entry
	report  agent.Report
	screen  screen.Reading
	failure *agent.Failure
	age     time.Duration
	want    string // state, source, detail
}{
	"idle":                            {entry("idle"), agent.Report{}, unknown, nil, old, "idle registry "},
	"busy":                            {entry("busy"), agent.Report{}, unknown, nil, old, "busy registry "},
	"busy is a retry":                 {entry("busy"), agent.Report{}, retrying, nil, old, "retrying screen "},
	"busy stays":                      {entry("busy"), agent.Report{}, idle, nil, old, "busy registry "},
	"busy with a dialog drawn":        {entry("busy"), agent.Report{}, trust, nil, old, "busy registry "},
	"idle is no retry":                {entry("idle"), agent.Report{}, retrying, nil, old, "idle registry "},
	"waiting stays":                   {entry("waiting"), agent.Report{}, retrying, nil, old, "waiting registry "},
	"compacting":                      {entry("busy"), said(agent.Busy, "PreCompact", "compacting"), busy, nil, old, "busy registry compacting"},
	"compacted":                       {entry("idle"), said(agent.Busy, "PreCompact", "compacting"), unknown, nil, old, "idle registry "},
	"a failed turn":                   {entry("idle"), agent.Report{}, unknown, limited, old, "failed registry rate limit"},
	"a failed turn without a class":   {entry("idle"), agent.Report{}, unknown, &agent.Failure{}, old, "failed registry unknown"},
	"busy after a failed turn":        {entry("busy"), agent.Report{}, unknown, limited, old, "busy registry "},
	"the registry before the hooks":   {entry("idle"), said(agent.Busy, "UserPromptSubmit", ""), unknown, nil, old, "idle registry "},
	"a registry without a status":     {entry(""), said(agent.Busy, "UserPromptSubmit", ""), unknown, nil, old, "busy hooks "},
	"hooks":                           {nil, said(agent.Waiting, "PermissionRequest", "permission prompt"), unknown, nil, old, "waiting hooks permission prompt"},
	"hooks, and a failed turn":        {nil, said(agent.Idle, "StopFailure", ""), unknown, limited, old, "failed hooks rate limit"},
	"a turn interrupted":              {nil, said(agent.Busy, "UserPromptSubmit", ""), idle, nil, old, "idle screen "},
	"hooks, and a screen that is dim": {nil, said(agent.Busy, "UserPromptSubmit", ""), unknown, nil, old, "busy hooks "},
	"hooks, and claude has left":      {nil, said(agent.Busy, "UserPromptSubmit", ""), left, nil, old, "busy hooks "},
	"it said goodbye":                 {nil, goodbye(), unknown, nil, old, "unknown process it is exiting"},
	"nobody says anything":            {nil, agent.Report{}, unknown, nil, old, "unknown process it runs, and Claude's registry does not show its state: it may wait at a dialog"},
	"only the screen knows":           {nil, agent.Report{}, busy, nil, old, "busy screen "},
	"only the screen, a full context": {nil, agent.Report{}, full, nil, old, "failed screen context full"},
	"just started":                    {nil, agent.Report{}, unknown, nil, young, "starting process "},
	"a box before it is ready":        {nil, agent.Report{}, idle, nil, young, "starting process "},
	"a dialog before it is ready":     {nil, agent.Report{}, trust, nil, young, "waiting screen trust dialog"},
}

// Which sources a judgement about a running claude uses.
func TestJudgeTheLiving(t *testing.T) {
	t.Parallel()
	for what, c := range living {
		r := agent.Record{Started: now.Add(-c.age), Process: &agent.Process{Identity: agent.Identity{Identified: agent.Identified{PID: 9}}}}
		e := Evidence{Now: now, Claude: machine.Alive, Entry: c.entry, Report: c.report, Screen: c.screen, Failure: c.failure}
		status, dialog := judge(&r, &e)
		rig.Equal(t, string(status.State)+" "+status.Source+" "+status.Detail, c.want, "%s", what)
		rig.Check(t, status.SamePID && status.Running() && status.Uptime == c.age, "%s: it runs, and %+v", what, status)
		if (status.Retry != nil) != (status.State == agent.Retrying) || (dialog != "") != (status.Source == agent.FromScreen && c.screen.Dialog != "") {
			t.Errorf("%s: %+v, dialog %q", what, status, dialog)
		}
		ages := map[string]time.Duration{agent.FromRegistry: 2 * time.Second, agent.FromHooks: 3 * time.Second, agent.FromScreen: 0}
		age, told := ages[status.Source]
		rig.Check(t, (!told || status.Age != nil && *status.Age == age) && (told || status.Age == nil), "%s: its age is %v", what, status.Age)
	}
}

// A question without an answer makes no agent dead.
func TestJudgeTheAbsent(t *testing.T) {
	t.Parallel()
	exit := agent.Exit{Invocation: "i", Code: 1}
	for what, c := range map[string]struct {
		evidence Evidence
		pid      int
		exits    []agent.Exit
		want     string
	}{
		"gone":                             {Evidence{Claude: machine.Gone}, 9, nil, "crashed"},
		"gone, its exit recorded":          {Evidence{Claude: machine.Gone}, 9, []agent.Exit{exit}, "crashed"},
		"its launcher writes":              {Evidence{Claude: machine.Gone, LauncherLives: true}, 9, nil, "unknown"},
		"its launcher has written":         {Evidence{Claude: machine.Gone, LauncherLives: true}, 9, []agent.Exit{exit}, "crashed"},
		"of another host":                  {Evidence{Claude: machine.Foreign}, 9, nil, "unknown"},
		"of another host, and written":     {Evidence{Claude: machine.Foreign}, 9, []agent.Exit{exit}, "crashed"},
		"not to be judged":                 {Evidence{Claude: machine.Unsure, ClaudeErr: errors.New("no /proc")}, 9, nil, "unknown"},
		"a launcher that has not begun":    {Evidence{Claude: machine.Gone, LauncherLives: true}, 0, nil, "starting"},
		"a verb is at work":                {Evidence{Claude: machine.Gone, BeingStarted: true, Pane: PaneAbsent}, 0, nil, "starting"},
		"a verb has ended it":              {Evidence{Claude: machine.Gone, BeingStarted: true}, 9, []agent.Exit{exit}, "starting"},
		"a pane is there":                  {Evidence{Claude: machine.Gone, Pane: PaneThere}, 0, nil, "starting"},
		"tmux is silent":                   {Evidence{Claude: machine.Gone, Pane: PaneUnknown}, 0, nil, "unknown"},
		"tmux is silent, and it ran":       {Evidence{Claude: machine.Gone, Pane: PaneUnknown}, 9, nil, "crashed"},
		"nothing has come of it":           {Evidence{Claude: machine.Gone, Pane: PaneAbsent}, 0, nil, "never started"},
		"nothing has come of it, rebooted": {Evidence{Claude: machine.Gone, Pane: PaneAbsent, Death: Death{Rebooted: true}}, 0, nil, "lost: reboot"},
		"its server went":                  {Evidence{Claude: machine.Gone, Death: Death{ServerGone: true}}, 9, nil, "lost: tmux"},
	} {
		r := agent.Record{Exits: c.exits, Process: &agent.Process{Invocation: "i", Identity: agent.Identity{Identified: agent.Identified{PID: c.pid}}}}
		status, _ := judge(&r, &c.evidence)
		rig.Check(t, status.Word() == c.want && !status.SamePID, "%s: %+v; want %s", what, status, c.want)
	}
}

// The status of an agent that does not run shows what its restart policy will do.
func TestJudgeWhatTheLauncherWaitsFor(t *testing.T) {
	t.Parallel()
	next := agent.Restarts{Next: now.Add(12 * time.Second)}
	limited := agent.Restarts{Next: now.Add(15 * time.Minute), After: agent.EndQuota}
	held := agent.Restarts{Hold: &agent.Hold{Class: agent.EndCrash, Reason: "it failed 5 times"}}
	for what, c := range map[string]struct {
		launcher bool
		paused   bool
		desired  agent.Desired
		restarts agent.Restarts
		want     string
	}{
		"it waits":                   {true, false, agent.DesiredRunning, next, "backoff, code 1; starts again in 12s"},
		"it waits for a limit":       {true, false, agent.DesiredRunning, limited, "backoff, code 1; waiting for a usage limit to end; it starts again in 15m0s"},
		"the launcher was killed":    {false, false, agent.DesiredRunning, next, "crashed, code 1"},
		"it was stopped meanwhile":   {true, false, agent.DesiredStopped, next, "stopped, "},
		"held":                       {false, false, agent.DesiredRunning, held, "crashed, code 1; held, it failed 5 times"},
		"held, its launcher goes":    {true, false, agent.DesiredRunning, held, "crashed, code 1; held, it failed 5 times"},
		"nothing is to be restarted": {true, false, agent.DesiredRunning, agent.Restarts{}, "crashed, code 1"},
		"it waits in a pause":        {true, true, agent.DesiredRunning, next, "backoff, code 1; starts again when the pause has ended"},
	} {
		r := agent.Record{
			Spec: agent.Spec{Handle: "a"}, Desired: c.desired, Restarts: c.restarts, Exits: []agent.Exit{{Invocation: "i", Code: 1}},
			Process: &agent.Process{Invocation: "i", Identity: agent.Identity{Identified: agent.Identified{PID: 9}}},
		}
		status, _ := judge(&r, &Evidence{Now: now, Claude: machine.Gone, LauncherLives: c.launcher, Paused: c.paused})
		state, detail := status.Words()
		got := state + ", " + detail
		rig.Check(t, got == c.want && !status.Running() && status.Down(), "%s: %q; want %q", what, got, c.want)
	}
}

// An agent has been dead since its end, not since its start.
func TestJudgeSinceWhenOneIsDead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	r := agent.Record{Started: now.Add(-time.Hour), Process: &agent.Process{Invocation: "i", Identity: agent.Identity{Identified: agent.Identified{PID: 9}}}}
	e := Evidence{Claude: machine.Gone, Now: now}
	if status, _ := judge(&r, &e); status.Age != nil {
		t.Errorf("no launcher saw the end, and it was %s ago", *status.Age)
	}
	r.Exits = []agent.Exit{{Invocation: "i", Code: 1, At: now.Add(-time.Minute)}}
	status, _ := judge(&r, &e)
	rig.Check(t, status.Age != nil && *status.Age == time.Minute, "the age is %v; want a minute", status.Age)
}
