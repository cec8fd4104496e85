package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/supervisor"
)

func dead(cause agent.Cause) agent.Status { return agent.Status{State: agent.Dead, Cause: cause} }

// Each cause has its way back, and what must come before or after it.
func TestAdviceOfTheDead(t *testing.T) {
	t.Parallel()
	const resume, attach = "nbs-worker resume alpha", "nbs-worker attach alpha"
	auth := &supervisor.LastError{Class: "authentication_failed"}
	crash := agent.Exit{Code: 1, UptimeS: 3}
	for name, c := range map[string]struct {
		view supervisor.View
		want []string
	}{
		"exited":       {supervisor.View{Sight: observe.Sight{Status: dead(agent.Exited)}}, []string{resume, "nbs-worker dismiss alpha"}},
		"crashed":      {supervisor.View{Sight: observe.Sight{Status: dead(agent.Crashed)}}, []string{resume}},
		"not known":    {supervisor.View{Sight: observe.Sight{Status: dead(agent.Crashed)}, LastError: auth}, []string{resume, attach}},
		"memory":       {supervisor.View{Sight: observe.Sight{Status: dead(agent.OutOfMemory)}}, []string{"ps -eo rss,pid,args --sort=-rss | head", resume}},
		"reboot":       {supervisor.View{Sight: observe.Sight{Status: dead(agent.LostReboot)}}, []string{resume}},
		"tmux":         {supervisor.View{Sight: observe.Sight{Status: dead(agent.LostTmux)}}, []string{resume}},
		"never":        {supervisor.View{Sight: observe.Sight{Status: agent.Status{State: agent.Dead, Cause: agent.NeverStarted, Detail: "no claude"}}}, []string{resume}},
		"stopped":      {supervisor.View{Sight: observe.Sight{Status: dead(agent.Stopped), Record: agent.Record{Desired: agent.DesiredStopped}}}, []string{}},
		"crashed once": {supervisor.View{Sight: observe.Sight{Status: dead(agent.Crashed), Record: agent.Record{Exits: []agent.Exit{{}, {}, crash}}}}, []string{resume}},
		"again and again": {
			supervisor.View{Sight: observe.Sight{Status: dead(agent.Crashed), Record: agent.Record{Exits: []agent.Exit{crash, crash, crash}}}},
			[]string{"nbs-worker session alpha --last-screen", resume},
		},
		"terminated often": {
			supervisor.View{Sight: observe.Sight{Status: dead(agent.Crashed), Record: agent.Record{Exits: []agent.Exit{{Code: 143}, {Code: 143}, {Code: 143}}}}}, []string{resume},
		},
	} {
		c.view.Record.Handle = "alpha"
		if diff := cmp.Diff(c.want, (&factory{}).commandsOf(c.view)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestAdviceOfTheLiving(t *testing.T) {
	t.Parallel()
	const attach = "nbs-worker attach alpha"
	auth := &supervisor.LastError{Class: "authentication_failed"}
	for _, c := range []struct {
		view supervisor.View
		want string
	}{
		{supervisor.View{Sight: observe.Sight{Status: agent.Status{State: agent.Waiting}, Dialog: screen.DialogAPIKey}}, "it asks whether to use the API key of the environment; answer it there: " + attach},
		{supervisor.View{Sight: observe.Sight{Status: agent.Status{State: agent.Waiting}}}, "it waits for a person: " + attach},
		{supervisor.View{Sight: observe.Sight{Status: agent.Status{State: agent.Idle}}, Drift: []supervisor.Drift{{Field: "model"}}}, "what runs is not what is recorded; look: " + attach},
		{supervisor.View{Sight: observe.Sight{Status: agent.Status{State: agent.Idle, SamePID: true}}, LastError: auth}, "the API does not know who it is; log in there, with /login: " + attach},
		{supervisor.View{Sight: observe.Sight{Status: agent.Status{State: agent.Idle, SamePID: true}}, LastError: &supervisor.LastError{Class: "rate_limit"}}, ""},
		{supervisor.View{Sight: observe.Sight{Status: agent.Status{State: agent.Idle}}}, ""},
	} {
		c.view.Record.Handle = "alpha"
		var got string
		if steps := advice(c.view); len(steps) > 0 {
			got = steps[0].String()
		}
		if got != c.want {
			t.Errorf("%+v: %q; want %q", c.view.Status, got, c.want)
		}
	}
}
