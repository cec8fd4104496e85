package triage

import (
	"slices"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/observe"
)

func dead(cause agent.Cause) agent.Status { return agent.Status{State: agent.Dead, Cause: cause} }

func often(exit agent.Exit) agent.Record { return agent.Record{Exits: []agent.Exit{exit, exit, exit}} }

func TestStepsOfTheDead(t *testing.T) {
	t.Parallel()
	crash := agent.Exit{Code: 1, UptimeS: 3}
	for name, c := range map[string]struct {
		status agent.Status
		record agent.Record
		login  bool
		want   []Step
	}{
		"exited":       {status: dead(agent.Exited), want: []Step{Resume, Dismiss}},
		"crashed":      {status: dead(agent.Crashed), want: []Step{Resume}},
		"not known":    {status: dead(agent.Crashed), login: true, want: []Step{Resume, LogInAfter}},
		"memory":       {status: dead(agent.OutOfMemory), want: []Step{FindMemory, Resume}},
		"reboot":       {status: dead(agent.LostReboot), want: []Step{Resume}},
		"tmux":         {status: dead(agent.LostTmux), want: []Step{Resume}},
		"never":        {status: agent.Status{State: agent.Dead, Cause: agent.NeverStarted, Detail: "no claude"}, want: []Step{StartMended}},
		"stopped":      {status: dead(agent.Stopped), record: agent.Record{Desired: agent.DesiredStopped}},
		"crashed once": {status: dead(agent.Crashed), record: agent.Record{Exits: []agent.Exit{{}, {}, crash}}, want: []Step{Resume}},
		"again and again": {
			status: dead(agent.Crashed), record: agent.Record{Exits: []agent.Exit{crash, crash, crash}}, want: []Step{ReadEnd, ResumeMended},
		},
		"held": {
			status: dead(agent.Crashed), record: agent.Record{Restarts: agent.Restarts{Hold: &agent.Hold{Class: agent.EndAuth}}}, want: []Step{ResumeMended},
		},
		"closed often":   {status: dead(agent.Crashed), record: often(agent.Exit{Code: 129, HungUp: true}), want: []Step{Resume}},
		"after a while":  {status: dead(agent.Crashed), record: often(agent.Exit{Code: 1, UptimeS: 61}), want: []Step{Resume}},
		"nobody saw how": {status: dead(agent.Crashed), record: often(agent.Exit{Code: -1, Cause: agent.Crashed}), want: []Step{Resume}},
		"terminated often": {
			status: dead(agent.Crashed), record: agent.Record{Exits: []agent.Exit{{Code: 143}, {Code: 143}, {Code: 143}}}, want: []Step{Resume},
		},
	} {
		c.record.Handle = "alpha"
		known := Known{Sight: &observe.Sight{Status: c.status, Record: c.record}, NeedsLogin: c.login}
		if got := Steps(known); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
	}
}

func TestStepsOfTheLiving(t *testing.T) {
	t.Parallel()
	idle := agent.Status{State: agent.Idle, SamePID: true}
	for name, c := range map[string]struct {
		known Known
		want  []Step
	}{
		"a dialog":       {Known{Sight: &observe.Sight{Status: agent.Status{State: agent.Waiting}, Dialog: screen.DialogAPIKey}}, []Step{Answer}},
		"waiting":        {Known{Sight: &observe.Sight{Status: agent.Status{State: agent.Waiting}}}, []Step{Attend}},
		"another claude": {Known{Sight: &observe.Sight{Status: idle}, Strangers: true, Drifted: true}, []Step{EndOther}},
		"drift":          {Known{Sight: &observe.Sight{Status: idle}, Drifted: true}, []Step{LookAtDrift}},
		"login":          {Known{Sight: &observe.Sight{Status: idle}, NeedsLogin: true}, []Step{LogIn}},
		"all is well":    {Known{Sight: &observe.Sight{Status: idle}}, nil},
	} {
		if got := Steps(c.known); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
	}
}
