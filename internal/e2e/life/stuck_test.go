package life

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A tmux server that answers nobody: every verb ends in time, says what is wrong and
// what to do, and nothing is lost.

const stuckLimit = 6 * time.Second

func TestVerbsOnAStoppedServer(t *testing.T) {
	m := standIn(t)
	m.stuckServer(func(server int) (repair func(), words, remedy string) {
		m.Kill(server, syscall.SIGSTOP)
		return func() { m.Kill(server, syscall.SIGCONT) },
			fmt.Sprintf("its server, pid %d, is stopped", server), fmt.Sprintf("hint: let it go on: kill -CONT %d", server)
	}, attempt{code: 3, said: "is stopped"})
}

// attempt is one verb on a stuck server, and what is to come of it.
type attempt struct {
	verb string
	args []string
	code int
	said string
}

// stuckServer runs all verbs but spawn at once, on live agents and on dead ones, while
// the server is stuck, and then spawn; it is repaired, and all agents are looked for.
func (m *team) stuckServer(stick func(server int) (repair func(), words, remedy string), spawn attempt) {
	m.Helper()
	live := []string{"alpha", "beta", "gamma", "delta"}
	down := []string{"fallen", "halted", "gone"}
	before := map[string]e2e.Session{}
	for _, handle := range append(live, down...) {
		m.OK("spawn", handle, "--prompt", "Remember 42.")
		before[handle] = m.WaitState(handle, "idle")
	}
	m.OK(append([]string{"stop"}, down...)...)
	repair, words, remedy := stick(m.ServerPID())
	repaired := false
	m.Cleanup(func() { // before the server is ended
		if !repaired {
			repair()
		}
	})
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
	spawn.verb, spawn.args = "spawn", []string{"epsilon", "--prompt", "Remember 42."}
	m.allInTime([]attempt{spawn}, remedy)
	// The server may start it yet: it is not said never to have started.
	told := m.NBS("list")
	m.Check(strings.Contains(told.Stdout, "\nepsilon\tunknown\t"), "list: %s", told)
	told = m.NBS("session", "alpha")
	m.Check(strings.Contains(told.Stdout, "unknown: tmux did not answer") && strings.Contains(told.Stdout, "running (verified)"), "session: %s", told)
	told = m.NBS("session", "epsilon")
	m.Check(strings.Contains(told.Stdout, "unknown (unknown: tmux did not answer, the start may still be in progress)"), "session: %s", told)
	for _, handle := range []string{"gamma", "delta"} {
		m.Check(e2e.Dead(before[handle].RecordedPID), "%s was not ended", handle)
	}
	repair()
	repaired = true
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

// The way out when the server cannot be mended: the agent is started in another one.
func TestAgentMovesAwayFromAStuckServer(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("spawn", "beta", "--model", "sonnet", "--prompt", "Remember 42.")
	down := m.WaitState("beta", "idle")
	m.OK("stop", "beta")
	server := m.ServerPID()
	m.Kill(server, syscall.SIGSTOP)
	t.Cleanup(func() { _ = syscall.Kill(server, syscall.SIGCONT) })
	for _, handle := range []string{"alpha", "beta"} {
		r := m.NBS("resume", handle, "--force", "--tmux-socket", "rescue")
		m.Check(r.Code == 0, "%v", r)
	}
	m.Check(e2e.Dead(before.RecordedPID), "the old claude lives")
	for handle, was := range map[string]e2e.Session{"alpha": before, "beta": down} {
		s := m.Session(handle)
		m.Check(s.Running && s.TmuxAlive && s.SessionID == was.SessionID && len(e2e.ClaudesOn(s.SessionID)) == 1, "before %+v\nafter %+v", was, s)
	}
	m.Kill(server, syscall.SIGCONT)
	m.WaitFor("the old session is gone", func() (bool, string) {
		names := m.Tmux("list-sessions")
		return !strings.Contains(names, "nbs-alpha-live"), names
	})
	m.MustRemember("alpha", before, "--force", "--tmux-socket", "default")
	m.MustRemember("beta", down, "--force", "--tmux-socket", "default")
}

// A server that is stopped in the middle of a start is not waited for; the start goes on
// with it.
func TestServerThatIsStoppedDuringAStart(t *testing.T) {
	m := standIn(t, "start-delay=8s")
	m.KeepServer()
	server := m.ServerPID()
	spawn := m.Begin("spawn", "alpha", "--prompt", "Remember 42.", "--timeout", e2e.Patience())
	m.WaitClaude("alpha")
	m.Kill(server, syscall.SIGSTOP)
	t.Cleanup(func() { _ = syscall.Kill(server, syscall.SIGCONT) })
	begun := time.Now()
	refusal := spawn.End()
	took := time.Since(begun)
	m.MustRefuse(refusal, 3, fmt.Sprintf("its server, pid %d, is stopped", server))
	m.InTime(took, stuckLimit)
	m.Kill(server, syscall.SIGCONT)
	m.MustAnswer("alpha", "OK, I will remember 42.")
	s := m.Session("alpha")
	m.Check(s.Running && len(e2e.ClaudesOn(s.SessionID)) == 1, "%+v", s)
}
