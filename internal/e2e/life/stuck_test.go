package life

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A tmux server that answers nobody: every verb ends in time, says what is wrong and
// what to do, and nothing is lost.

// stuckLimit is one wait for tmux, which is not asked again after that, and what a verb takes without it.
const stuckLimit = 16 * time.Second

// attempt is one verb on a stuck server, and what is to come of it.
type attempt struct {
	verb string
	args []string
	code int
	said string
}

// All verbs but spawn run at once, on live agents and on dead ones, while the server is stopped, and then spawn.
func TestVerbsOnAStoppedServer(t *testing.T) {
	m := standIn(t)
	live := []string{"alpha", "beta", "gamma", "delta"}
	down := []string{"fallen", "halted", "gone"}
	before := map[string]e2e.Session{}
	for _, handle := range append(live, down...) {
		m.OK("spawn", handle, "--prompt", "Remember 42.")
		before[handle] = m.WaitState(handle, "idle")
	}
	m.OK(append([]string{"stop"}, down...)...)
	server, goOn := m.StopServer("alpha")
	words, remedy := fmt.Sprintf("its server, pid %d, is stopped", server), fmt.Sprintf("hint: let it go on: kill -CONT %d", server)
	m.allInTime([]attempt{{"list", nil, 3, words}}, remedy) // before the spawn, whose agent needs no tmux to be known
	m.allInTime([]attempt{
		{"session", []string{"alpha"}, 3, words},
		{"attach", []string{"alpha"}, 3, words},
		{"resume", []string{"alpha"}, 5, "the agent runs already: "},
		{"resume", []string{"beta", "--force"}, 3, words},
		{"stop", []string{"gamma"}, 3, "the agent has ended, but its tmux pane could not be closed"},
		{"dismiss", []string{"delta"}, 3, "the agent has ended, but its tmux pane could not be closed"},
		{"session", []string{"fallen"}, 3, words},
		{"attach", []string{"fallen"}, 3, words},
		{"resume", []string{"fallen"}, 3, words},
		{"stop", []string{"halted"}, 3, words},
		{"dismiss", []string{"gone"}, 3, words},
	}, remedy)
	// Not beside list, which would do its part for an agent that was never in tmux: code 7.
	m.allInTime([]attempt{{"spawn", []string{"epsilon", "--prompt", "Remember 42."}, 3, "is stopped"}}, remedy)
	// The server may start it yet: it is not said never to have started.
	list, alpha, epsilon := m.Begin("list"), m.Begin("session", "alpha"), m.Begin("session", "epsilon")
	told := list.End()
	m.Check(strings.Contains(told.Stdout, "\nepsilon\tunknown\t"), "list: %s", told)
	told = alpha.End()
	m.Check(strings.Contains(told.Stdout, "unknown: tmux did not answer") && strings.Contains(told.Stdout, "running (verified)"), "session: %s", told)
	told = epsilon.End()
	m.Check(strings.Contains(told.Stdout, "unknown (unknown: tmux did not answer, the start may still be in progress)"), "session: %s", told)
	for _, handle := range []string{"gamma", "delta"} {
		m.Check(e2e.Dead(before[handle].RecordedPID), "%s was not ended", handle)
	}
	goOn()
	for _, handle := range []string{"alpha", "beta"} {
		if s := m.Session(handle); !s.Running || !s.TmuxAlive || s.RecordedPID != before[handle].RecordedPID {
			m.Errorf("%s: before %+v\nafter %+v", handle, before[handle], s)
		}
	}
	for _, handle := range []string{"gamma", "delta", "fallen", "halted", "gone"} {
		m.MustRemember(handle, before[handle])
	}
	m.OK("resume", "epsilon")
	m.MustAnswer("epsilon", "OK, I will remember 42.")
	on := e2e.ClaudesOn(m.Session("epsilon").SessionID)
	m.Check(len(on) == 1, "claudes of epsilon: %v", on)
}

// allInTime runs verbs side by side and checks code, words, remedy and time of each.
func (m *team) allInTime(attempts []attempt, remedy string) {
	m.Helper()
	var all sync.WaitGroup
	for i, a := range attempts {
		all.Go(func() {
			begun := time.Now()
			var r e2e.Result
			if a.verb == "attach" {
				r = m.OnTerminal(a.verb, a.args...)
			} else {
				// One verb at a time for each handle: alpha and fallen are only looked at.
				r = m.NBS(append([]string{a.verb}, a.args...)...)
			}
			took := time.Since(begun)
			m.Logf("%s %v: %s, code %d", a.verb, a.args, took.Round(10*time.Millisecond), r.Code)
			if r.Code != a.code || !strings.Contains(r.Stderr, a.said) || !strings.Contains(r.Stderr, remedy) || took > rig.Scaled(stuckLimit) {
				m.Errorf("%d: %s %v took %s; want code %d, %q and %q: %s", i, a.verb, a.args, took, a.code, a.said, remedy, r)
			}
		})
	}
	all.Wait()
}

// The way out when the server cannot be mended: the agent is started in another one. An agent of a server that is well
// has its turn beside it.
func TestAgentMovesAwayFromAStuckServer(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("spawn", "beta", "--model", "sonnet", "--prompt", "Remember 42.")
	down := m.WaitState("beta", "idle")
	m.OK("stop", "beta")
	m.OK("spawn", "aside", "--tmux-socket", "aside")
	server, goOn := m.StopServer("alpha")
	words := fmt.Sprintf("its server, pid %d, is stopped", server)
	m.MustSay(m.inTime(7, "list").Stderr, words)
	r := m.inTime(7, "resume", "--force", "alpha", "aside")
	m.Check(r.Stdout == "aside\n" && !e2e.Dead(before.RecordedPID), "%s", r)
	for _, handle := range []string{"alpha", "beta"} {
		r := m.NBS("resume", handle, "--force", "--tmux-socket", "rescue")
		m.Check(r.Code == 0, "%v", r)
	}
	m.Check(e2e.Dead(before.RecordedPID), "the old claude lives")
	for handle, was := range map[string]e2e.Session{"alpha": before, "beta": down} {
		s := m.Session(handle)
		m.Check(s.Running && s.TmuxAlive && s.SessionID == was.SessionID && len(e2e.ClaudesOn(s.SessionID)) == 1, "before %+v\nafter %+v", was, s)
	}
	goOn()
	m.WaitFor("the old session is gone", func() (bool, string) {
		names := m.Tmux("list-sessions")
		return !strings.Contains(names, "nbs-alpha-live"), names
	})
	m.MustRemember("alpha", before, "--force", "--tmux-socket", "default")
	m.MustRemember("beta", down, "--force", "--tmux-socket", "default")
}
