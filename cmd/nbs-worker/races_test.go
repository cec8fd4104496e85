package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Verbs that meet: one wins, the others say who did, and the end is one that a record
// explains.

const contenders = 32

// holderNamed is how a loser names the winner: the verb at work, or the agent that runs.
var holderNamed = regexp.MustCompile(`another command is at work on this agent: \w+ alpha, pid \d+, since |the agent runs already: [a-z]+, pid \d+|the handle is taken`)

// mustNameTheHolder checks what the losers were told.
func (m *team) mustNameTheHolder(results []result) {
	m.Helper()
	for _, r := range results {
		m.check(r.code != 5 || holderNamed.MatchString(r.stderr), "the holder is not named: %s", r)
	}
}

// compete runs one command many times at once.
func (m *team) compete(contenders int, args ...string) []result {
	m.Helper()
	results := make([]result, contenders)
	var all sync.WaitGroup
	for i := range contenders {
		all.Go(func() { results[i] = m.nbs(args...) })
	}
	all.Wait()
	return results
}

// wonByOne checks that one of several competitors succeeded and that the others were
// told of a conflict.
func (m *team) wonByOne(results []result) {
	m.Helper()
	won := 0
	for _, r := range results {
		switch r.code {
		case 0:
			won++
		case 5:
		default:
			m.Error(r)
		}
	}
	m.check(won == 1, "%d of %d succeeded", won, len(results))
}

func TestManyResumesOfOneAgent(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.keepServer()
	for round := range 3 {
		m.ok("stop", "alpha")
		results := m.compete(contenders, "resume", "alpha")
		m.wonByOne(results)
		m.mustNameTheHolder(results)
		on := claudesOn(before.SessionID)
		m.check(len(on) == 1, "round %d: claudes on the conversation: %v", round, on)
	}
	m.mustRemember("alpha", before, "--force")
}

func TestManySpawnsOfOneHandle(t *testing.T) {
	m := standIn(t)
	m.keepServer()
	for round := range 3 {
		results := m.compete(contenders, "spawn", "alpha")
		m.wonByOne(results)
		m.mustNameTheHolder(results)
		s := m.session("alpha")
		on := claudesOn(s.SessionID)
		m.check(len(on) == 1 && s.Running, "round %d: claudes on the conversation: %v; %+v", round, on, s)
		names := m.sessionNames()
		m.check(names == "nbs-alpha-live\nsomebody\n", "sessions: %q", names)
		m.ok("dismiss", "alpha")
	}
}

// meet runs two verbs on alpha at once. With a head start the first has the verb lock
// before the second begins.
func (m *team) meet(first, second string, headStart bool) (a, b result) {
	m.Helper()
	done := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		defer close(done)
		a = m.nbs(first, "alpha")
	})
	if headStart {
		m.waitFor(first+" is at work", func() (bool, string) {
			lock, _ := os.ReadFile(m.inNbs("locks", "alpha.verb"))
			select {
			case <-done:
				return true, ""
			default:
				return strings.Contains(string(lock), `"verb":"`+first+`"`), string(lock)
			}
		})
	}
	b = m.nbs(second, "alpha")
	both.Wait()
	return a, b
}

// rounds runs two verbs against each other: each with a head start, then as it comes.
func (m *team) rounds(one, other string, check func(what string, one, other result)) {
	m.Helper()
	for round := range 8 {
		var a, b result
		headStart := round < 4
		if round%2 == 0 {
			a, b = m.meet(one, other, headStart)
		} else {
			b, a = m.meet(other, one, headStart)
		}
		what := fmt.Sprintf("round %d: %s %d, %s %d", round, one, a.code, other, b.code)
		m.Log(what)
		check(what, a, b)
	}
}

func TestResumeAgainstDismiss(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.keepServer()
	m.ok("stop", "alpha")
	resumed, dismissed := 0, 0
	m.rounds("resume", "dismiss", func(what string, resume, dismiss result) {
		r := m.nbs("session", "alpha")
		on := claudesOn(before.SessionID)
		switch r.code {
		case 2: // it is dismissed: resume came before, which dismiss waits for, or too late
			m.check(len(on) == 0 && dismiss.code == 0 && resume.code != 1, "%s: %v\n%s\n%s", what, on, resume, dismiss)
			if resume.code == 0 {
				resumed++
			} else {
				dismissed++
			}
			m.mustBeInTheJournal("dismiss", "alpha", before.SessionID)
			m.ok("spawn", "alpha", "--session-id", before.SessionID, "--model", "sonnet")
			m.ok("stop", "alpha")
		default:
			t.Errorf("%s: %s", what, r)
		}
	})
	m.check(resumed != 0 && dismissed != 0, "resume came first %d times, dismiss %d times", resumed, dismissed)
	m.mustRemember("alpha", before)
}

func TestStopAgainstResume(t *testing.T) {
	t.Parallel()
	for name, force := range map[string]bool{"of a dead agent": false, "of a live one": true} {
		t.Run(name, func(t *testing.T) {
			m := standIn(t)
			before := m.remembers("alpha")
			m.keepServer()
			if !force {
				m.ok("stop", "alpha")
			}
			m.rounds("stop", "resume", func(what string, stop, resume result) {
				s := m.session("alpha")
				on := claudesOn(before.SessionID)
				running := len(on) == 1
				if len(on) > 1 || s.Running != running || (s.Desired == "running") != running || s.TmuxAlive != running {
					t.Errorf("%s: %v, %+v\n%s\n%s", what, on, s, stop, resume)
				}
				for _, r := range []result{stop, resume} {
					m.check(r.code == 0 || r.code == 5, "%s: %s", what, r)
				}
				m.check(stop.code == 0 || resume.code == 0 || force, "%s: nobody won\n%s\n%s", what, stop, resume)
				if force {
					m.nbs("resume", "alpha")
				} else {
					m.ok("stop", "alpha")
				}
			})
			m.mustRemember("alpha", before, "--force")
		})
	}
}

// The same handle in two projects, on one tmux server, in motion at the same time.
func TestTwoProjectsWithOneHandleAtOnce(t *testing.T) {
	m := standIn(t)
	other := m.otherProject()
	rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Project, other}})
	m.keepServer()
	var both sync.WaitGroup
	for _, root := range []string{m.world.Project, other} {
		both.Go(func() { m.liveThrough(root) })
	}
	both.Wait()
	names := m.sessionNames()
	m.check(names == "somebody\n", "sessions left: %q", names)
}

// liveThrough spawns, stops and resumes an agent in a project and checks after each verb
// that it is its own, and only its own.
func (m *team) liveThrough(root string) {
	own, world := *m, *m.world
	world.Project = root
	own.dir, own.world = root, &world
	verb := func(args ...string) bool {
		r := own.nbs(args...)
		m.check(r.code == 0, "%s: %v: %s", root, args, r)
		return r.code == 0
	}
	if !verb("spawn", "alpha", "--prompt", "Remember 42.") {
		return
	}
	for _, verbs := range [][]string{{"stop", "resume"}, {"force"}, {"stop", "resume"}, {"force"}, {"stop", "resume"}} {
		for _, name := range verbs {
			args := []string{name, "alpha"}
			if name == "force" {
				args = []string{"resume", "alpha", "--force"}
			}
			if !verb(args...) {
				return
			}
		}
		r := own.nbs("session", "alpha", "--json")
		m.check(strings.Contains(r.stdout, `"running":true`) && strings.Contains(r.stdout, `"tmux_alive":true`), "%s: after %v: %s", root, verbs, r)
	}
	verb("dismiss", "alpha")
}
