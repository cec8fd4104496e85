package life

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// inTime runs a verb that must end with the code, in time.
func (m *team) inTime(code int, args ...string) e2e.Result {
	m.Helper()
	begun := time.Now()
	r := m.NBS(args...)
	took := time.Since(begun)
	m.Logf("%v: %s, code %d", args, took.Round(10*time.Millisecond), r.Code)
	m.Check(r.Code == code, "%v: want code %d: %s", args, code, r)
	m.InTime(took, stuckLimit)
	return r
}

// slowTmux makes each tmux late from now on, though not so late that it is taken for silent: before it does what it is
// asked, and after.
func (m *team) slowTmux() (fast func()) {
	m.Helper()
	was := m.Env
	tmux, err := exec.LookPath("tmux")
	m.Must(err)
	late := m.Program("tmux", fmt.Sprintf(`sleep 0.8; %s "$@"; code=$?; sleep 0.7; exit $code`, tmux))
	m.Env = append(slices.Clone(was), m.Before(late))
	return func() { m.Env = was }
}

func TestVerbsOnASlowTmux(t *testing.T) {
	m := standIn(t)
	before := map[string]e2e.Session{}
	down := []string{"fallen", "halted", "gone"}
	for _, handle := range append([]string{"alpha", "beta", "gamma", "delta"}, down...) {
		m.OK("spawn", handle, "--prompt", "Remember 42.")
		before[handle] = m.WaitState(handle, "idle")
	}
	m.OK(append([]string{"stop"}, down...)...)
	fast := m.slowTmux()
	m.onSlowTmux()
	fast()
	for _, handle := range []string{"beta", "gamma", "delta"} {
		m.Check(e2e.Dead(before[handle].RecordedPID), "%s was not ended", handle)
	}
	m.MustBeLeftAlone("alpha", before["alpha"])
	for _, handle := range []string{"beta", "fallen"} {
		m.MustRemember(handle, before[handle], "--force")
	}
	for _, handle := range []string{"gamma", "halted"} {
		m.MustRemember(handle, before[handle])
	}
	m.MustAnswer("epsilon", "OK, I will remember 42.")
	on := e2e.ClaudesOn(m.Session("epsilon").SessionID)
	m.Check(len(on) == 1, "claudes of epsilon: %v", on)
}

// onSlowTmux runs all verbs, as [TestVerbsOnAStoppedServer] does. What takes few answers is done in time,
// and what takes many is done too.
func (m *team) onSlowTmux() {
	m.Helper()
	m.allInTime([]attempt{
		{"list", nil, 0, ""},
		{"session", []string{"alpha"}, 0, ""},
		{"session", []string{"fallen"}, 0, ""},
		{"attach", []string{"fallen"}, 2, "the agent does not run"},
		{"resume", []string{"alpha"}, 5, "the agent runs already: "},
		{"stop", []string{"gamma"}, 0, ""},
		{"dismiss", []string{"delta"}, 0, ""},
		{"stop", []string{"halted"}, 0, ""},
		{"dismiss", []string{"gone"}, 0, ""},
	}, "")
	var all sync.WaitGroup
	for _, args := range [][]string{{"resume", "beta", "--force"}, {"resume", "fallen"}, {"spawn", "epsilon", "--prompt", "Remember 42."}} {
		all.Go(func() {
			r := m.NBS(args...)
			m.Check(r.Code == 0, "%q: %s", args, r)
		})
	}
	all.Wait()
}

// What is in the place of tmux and prints for ever is said to be no tmux.
func TestVerbsOnATmuxThatPrintsForEver(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	was := m.Env
	m.Env = append(slices.Clone(was), m.Before(m.Program("tmux", "exec yes")))
	for _, args := range [][]string{{"list"}, {"resume", "alpha", "--force"}, {"attach", "alpha"}, {"spawn", "beta", "--prompt", "Remember 42."}} {
		run := m.NBS
		if args[0] == "attach" {
			run = func(args ...string) e2e.Result { return m.OnTerminal(args[0], args[1:]...) }
		}
		r := run(args...)
		tooMuch := r.Code == 6 && strings.Contains(r.Stderr, "tmux printed too much") && strings.Contains(r.Stderr, "hint: is it tmux at all? ")
		tooLong := r.Code == 3 && strings.Contains(r.Stderr, "and did not end") // on a machine that is too busy to print so much in time
		m.Check(tooMuch || tooLong, "%v: %s", args, r)
	}
	m.Env = was
	m.MustBeLeftAlone("alpha", before)
	m.MustRemember("alpha", before, "--force")
	m.OK("resume", "beta")
	m.MustAnswer("beta", "OK, I will remember 42.")
}
