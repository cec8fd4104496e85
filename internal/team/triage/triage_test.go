package triage

import (
	"slices"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"

	"nbs-worker/internal/sim/rig"
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
		known := Known{View: &inspect.View{Sight: observe.Sight{Status: c.status, Record: c.record}}}
		if c.login {
			known.LastError = &inspect.LastError{Class: inspect.ClassAuthentication}
		}
		got := Steps(known)
		rig.Check(t, slices.Equal(got, c.want), "%s: %v; want %v", name, got, c.want)
	}
}

func TestStepsOfTheLiving(t *testing.T) {
	t.Parallel()
	idle := agent.Status{State: agent.Idle, SamePID: true}
	for name, c := range map[string]struct {
		view inspect.View
		want []Step
	}{
		"a dialog":       {inspect.View{Sight: observe.Sight{Status: agent.Status{State: agent.Waiting}, Dialog: screen.DialogAPIKey}}, []Step{Answer}},
		"waiting":        {inspect.View{Sight: observe.Sight{Status: agent.Status{State: agent.Waiting}}}, []Step{Attend}},
		"another claude": {inspect.View{Sight: observe.Sight{Status: idle}, Strangers: []observe.Stranger{{PID: 7}}, Drift: []observe.Drift{{}}}, []Step{EndOther}},
		"drift":          {inspect.View{Sight: observe.Sight{Status: idle}, Drift: []observe.Drift{{}}}, []Step{LookAtDrift}},
		"login":          {inspect.View{Sight: observe.Sight{Status: idle}, LastError: &inspect.LastError{Class: inspect.ClassAuthentication}}, []Step{LogIn}},
		"all is well":    {inspect.View{Sight: observe.Sight{Status: idle}}, nil},
	} {
		got := Steps(Known{View: &c.view})
		rig.Check(t, slices.Equal(got, c.want), "%s: %v; want %v", name, got, c.want)
	}
}
