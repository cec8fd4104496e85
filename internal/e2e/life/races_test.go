package life

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// Verbs that meet: one wins, the others say who did, and the end is one that a record
// explains.

const contenders = 12

// holderNamed is how a loser names the winner: the verb at work, or the agent that runs.
var holderNamed = regexp.MustCompile(`another command is working on this agent: \w+ alpha, pid \d+, since |the agent runs already: [a-z]+, pid \d+|the handle is taken`)

// mustNameTheHolder checks what the losers were told.
func (m *team) mustNameTheHolder(results []e2e.Result) {
	m.Helper()
	for _, r := range results {
		m.Check(r.Code != 5 || holderNamed.MatchString(r.Stderr), "the holder is not named: %s", r)
	}
}

// compete runs one command many times at once.
func (m *team) compete(contenders int, args ...string) []e2e.Result {
	m.Helper()
	results := make([]e2e.Result, contenders)
	var all sync.WaitGroup
	for i := range contenders {
		all.Go(func() { results[i] = m.NBS(args...) })
	}
	all.Wait()
	return results
}

// wonByOne checks that one of several competitors succeeded and that the others were
// told of a conflict.
func (m *team) wonByOne(results []e2e.Result) {
	m.Helper()
	won := 0
	for _, r := range results {
		switch r.Code {
		case 0:
			won++
		case 5:
		default:
			m.Error(r)
		}
	}
	m.Check(won == 1, "%d of %d succeeded", won, len(results))
}

func TestManyResumesOfOneAgent(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.KeepServer()
	m.OK("stop", "alpha")
	results := m.compete(contenders, "resume", "alpha")
	m.wonByOne(results)
	m.mustNameTheHolder(results)
	on := e2e.ClaudesOn(before.SessionID)
	m.Check(len(on) == 1, "claudes on the conversation: %v", on)
	m.MustRemember("alpha", before, "--force")
}

func TestManySpawnsOfOneHandle(t *testing.T) {
	m := standIn(t)
	m.KeepServer()
	results := m.compete(contenders, "spawn", "alpha")
	m.wonByOne(results)
	m.mustNameTheHolder(results)
	s := m.Session("alpha")
	on := e2e.ClaudesOn(s.SessionID)
	m.Check(len(on) == 1 && s.Running, "claudes on the conversation: %v; %+v", on, s)
	names := m.SessionNames()
	m.Check(names == "nbs-alpha-live\nsomebody\n", "sessions: %q", names)
}

// meet runs two verbs on alpha at once. With a head start the first has the verb lock
// before the second begins.
func (m *team) meet(first, second string, headStart bool) (a, b e2e.Result) {
	m.Helper()
	done := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		defer close(done)
		a = m.NBS(first, "alpha")
	})
	if headStart {
		m.WaitFor(first+" is at work", func() (bool, string) {
			lock, _ := os.ReadFile(m.InNbs("locks", "alpha.verb"))
			select {
			case <-done:
				return true, ""
			default:
				return strings.Contains(string(lock), `"verb":"`+first+`"`), string(lock)
			}
		})
	}
	b = m.NBS(second, "alpha")
	both.Wait()
	return a, b
}

// rounds runs two verbs against each other: each with a head start, then as it comes.
func (m *team) rounds(one, other string, check func(what string, one, other e2e.Result)) {
	m.Helper()
	for round := range 4 {
		var a, b e2e.Result
		headStart := round < 2
		if round%2 == 0 {
			a, b = m.meet(one, other, headStart)
		} else {
			b, a = m.meet(other, one, headStart)
		}
		what := fmt.Sprintf("round %d: %s %d, %s %d", round, one, a.Code, other, b.Code)
		m.Log(what)
		check(what, a, b)
	}
}

func TestResumeAgainstDismiss(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.KeepServer()
	m.OK("stop", "alpha")
	resumed, dismissed := 0, 0
	m.rounds("resume", "dismiss", func(what string, resume, dismiss e2e.Result) {
		r := m.NBS("session", "alpha")
		on := e2e.ClaudesOn(before.SessionID)
		switch r.Code {
		case 2: // it is dismissed: resume came before, which dismiss waits for, or too late
			m.Check(len(on) == 0 && dismiss.Code == 0 && resume.Code != 1, "%s: %v\n%s\n%s", what, on, resume, dismiss)
			if resume.Code == 0 {
				resumed++
			} else {
				dismissed++
			}
			m.MustBeInTheJournal("dismiss", "alpha", before.SessionID)
			m.OK("spawn", "alpha", "--session-id", before.SessionID, "--model", "sonnet")
			m.OK("stop", "alpha")
		case 0: // it runs: resume took longer than dismiss waits for it
			m.Check(len(on) == 1 && dismiss.Code == 5 && resume.Code == 0, "%s: %v\n%s\n%s", what, on, resume, dismiss)
			m.OK("stop", "alpha")
		default:
			t.Errorf("%s: %s", what, r)
		}
	})
	m.Check(resumed != 0 && dismissed != 0, "resume came first %d times, dismiss %d times", resumed, dismissed)
	m.MustRemember("alpha", before)
}

func TestStopAgainstResume(t *testing.T) {
	t.Parallel()
	for name, force := range map[string]bool{"of a dead agent": false, "of a live one": true} {
		t.Run(name, func(t *testing.T) {
			m := standIn(t)
			before := m.Remembers("alpha")
			m.KeepServer()
			if !force {
				m.OK("stop", "alpha")
			}
			m.rounds("stop", "resume", func(what string, stop, resume e2e.Result) {
				s := m.Session("alpha")
				on := e2e.ClaudesOn(before.SessionID)
				running := len(on) == 1
				if len(on) > 1 || s.Running != running || (s.Desired == "running") != running || s.TmuxAlive != running {
					t.Errorf("%s: %v, %+v\n%s\n%s", what, on, s, stop, resume)
				}
				for _, r := range []e2e.Result{stop, resume} {
					m.Check(r.Code == 0 || r.Code == 5, "%s: %s", what, r)
				}
				m.Check(stop.Code == 0 || resume.Code == 0 || force, "%s: nobody won\n%s\n%s", what, stop, resume)
				if force {
					m.NBS("resume", "alpha")
				} else {
					m.OK("stop", "alpha")
				}
			})
			m.MustRemember("alpha", before, "--force")
		})
	}
}

// The same handle in two projects, on one tmux server, in motion at the same time.
func TestTwoProjectsWithOneHandleAtOnce(t *testing.T) {
	m := standIn(t)
	other := m.OtherProject()
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Project, other}})
	m.KeepServer()
	var both sync.WaitGroup
	for _, root := range []string{m.World.Project, other} {
		both.Go(func() { m.liveThrough(root) })
	}
	both.Wait()
	names := m.SessionNames()
	m.Check(names == "somebody\n", "sessions left: %q", names)
}

// liveThrough spawns, stops and resumes an agent in a project and checks after each verb
// that it is its own, and only its own.
func (m *team) liveThrough(root string) {
	own, world := *m.Team, *m.World
	world.Project = root
	own.Dir, own.World = root, &world
	verb := func(args ...string) bool {
		r := own.NBS(args...)
		m.Check(r.Code == 0, "%s: %v: %s", root, args, r)
		return r.Code == 0
	}
	if !verb("spawn", "alpha", "--prompt", "Remember 42.") {
		return
	}
	for _, verbs := range [][]string{{"stop", "resume"}, {"force"}} {
		for _, name := range verbs {
			args := []string{name, "alpha"}
			if name == "force" {
				args = []string{"resume", "alpha", "--force"}
			}
			if !verb(args...) {
				return
			}
		}
		r := own.NBS("session", "alpha", "--json")
		m.Check(strings.Contains(r.Stdout, `"running":true`) && strings.Contains(r.Stdout, `"tmux_alive":true`), "%s: after %v: %s", root, verbs, r)
	}
	verb("dismiss", "alpha")
}
