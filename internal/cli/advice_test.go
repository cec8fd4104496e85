package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/inspect"
	"nbs-worker/internal/observe"
)

const resume, attach = "nbs-worker resume alpha", "nbs-worker attach alpha"

var notLoggedIn = &inspect.LastError{Class: "authentication_failed"}

// advised is what is to be done about an agent: in words with a command that can be pasted.
type advised struct {
	view  inspect.View
	words string // of the first step
	want  []string
}

func mustAdvise(t *testing.T, cases map[string]advised) {
	t.Helper()
	for name, c := range cases {
		c.view.Record.Handle = "alpha"
		if diff := cmp.Diff(c.want, (&factory{}).commandsOf(c.view)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
		words := ""
		if steps := advice(c.view); len(steps) > 0 {
			words = steps[0].String()
		}
		if words != c.words {
			t.Errorf("%s: %q; want %q", name, words, c.words)
		}
	}
}

func TestAdviceAboutTheDead(t *testing.T) {
	t.Parallel()
	dead := func(cause agent.Cause) observe.Sight {
		return observe.Sight{Status: agent.Status{State: agent.Dead, Cause: cause}}
	}
	ended := func(cause agent.Cause, exits ...agent.Exit) observe.Sight {
		sight := dead(cause)
		sight.Record.Exits = exits
		return sight
	}
	never := dead(agent.NeverStarted)
	never.Status.Detail = "no claude"
	stopped := dead(agent.Stopped)
	stopped.Record.Desired = agent.DesiredStopped
	crash, terminated := agent.Exit{Code: 1, UptimeS: 3}, agent.Exit{Code: 143}
	mustAdvise(t, map[string]advised{
		"exited":       {inspect.View{Sight: dead(agent.Exited)}, "bring it back: " + resume, []string{resume, "nbs-worker dismiss alpha"}},
		"crashed":      {inspect.View{Sight: dead(agent.Crashed)}, "bring it back: " + resume, []string{resume}},
		"not known":    {inspect.View{Sight: dead(agent.Crashed), LastError: notLoggedIn}, "bring it back: " + resume, []string{resume, attach}},
		"reboot":       {inspect.View{Sight: dead(agent.LostReboot)}, "bring it back: " + resume, []string{resume}},
		"tmux":         {inspect.View{Sight: dead(agent.LostTmux)}, "bring it back: " + resume, []string{resume}},
		"never":        {inspect.View{Sight: never}, "when that is mended, start it: " + resume, []string{resume}},
		"stopped":      {inspect.View{Sight: stopped}, "", []string{}},
		"crashed once": {inspect.View{Sight: ended(agent.Crashed, agent.Exit{}, agent.Exit{}, crash)}, "bring it back: " + resume, []string{resume}},
		"memory": {
			inspect.View{Sight: dead(agent.OutOfMemory)}, "see what takes the memory, or it will end like this again: ps -eo rss,pid,args --sort=-rss | head",
			[]string{"ps -eo rss,pid,args --sort=-rss | head", resume},
		},
		"again and again": {
			inspect.View{Sight: ended(agent.Crashed, crash, crash, crash)},
			"it ended again and again soon after its start; read its last words before all else: nbs-worker session alpha --last-screen",
			[]string{"nbs-worker session alpha --last-screen", resume},
		},
		"terminated often": {
			inspect.View{Sight: ended(agent.Crashed, terminated, terminated, terminated)}, "bring it back: " + resume, []string{resume},
		},
	})
}

func TestAdviceAboutTheLiving(t *testing.T) {
	t.Parallel()
	idle := observe.Sight{Status: agent.Status{State: agent.Idle, SamePID: true}}
	stranger, drift := []observe.Stranger{{PID: 7}}, []observe.Drift{{Field: "model"}}
	mustAdvise(t, map[string]advised{
		"a dialog": {
			inspect.View{Sight: observe.Sight{Status: agent.Status{State: agent.Waiting}, Dialog: screen.DialogAPIKey}},
			"it asks whether to use the API key of the environment; answer it there: " + attach, []string{attach},
		},
		"waiting": {inspect.View{Sight: observe.Sight{Status: agent.Status{State: agent.Waiting}}}, "it waits for a person: " + attach, []string{attach}},
		"another claude": {
			inspect.View{Sight: idle, Strangers: stranger, Drift: drift}, "two claudes fork the conversation: end the other one, pid 7, in its own terminal", []string{},
		},
		"drift":       {inspect.View{Sight: idle, Drift: drift}, "what runs is not what is recorded; look: " + attach, []string{attach}},
		"login":       {inspect.View{Sight: idle, LastError: notLoggedIn}, "the API does not know who it is; log in there, with /login: " + attach, []string{attach}},
		"all is well": {inspect.View{Sight: idle}, "", []string{}},
	})
}
