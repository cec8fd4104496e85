package life

import (
	"fmt"
	"os/exec"
	"slices"
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

func TestAgentsOnThreeStoppedServers(t *testing.T) {
	m := standIn(t)
	handles := []string{"alpha", "beta", "gamma"}
	before := map[string]e2e.Session{}
	for _, handle := range handles {
		m.OK("spawn", handle, "--prompt", "Remember 42.", "--tmux-socket", "of-"+handle)
		before[handle] = m.WaitState(handle, "idle")
	}
	m.OK("spawn", "delta", "--prompt", "Remember 42.")
	before["delta"] = m.WaitState("delta", "idle")
	var words, remedies []string
	var goOn []func()
	for _, handle := range handles {
		server, again := m.StopServer(handle)
		words = append(words, fmt.Sprintf("its server, pid %d, is stopped", server))
		remedies, goOn = append(remedies, fmt.Sprintf("kill -CONT %d", server)), append(goOn, again)
	}
	mustSayAll := func(r e2e.Result) { t.Helper(); m.MustSay(r.Stderr, slices.Concat(words, remedies)...) }
	mustSayAll(m.inTime(7, "list"))
	m.inTime(5, append([]string{"resume"}, handles...)...)
	m.MustSay(m.inTime(3, "resume", "alpha", "--force", "--tmux-socket", "of-beta").Stderr, words[1], "the tmux server was silent for ")
	mustSayAll(m.inTime(3, append([]string{"resume", "--force"}, handles...)...))
	r := m.inTime(7, "resume", "--force", "alpha", "delta")
	m.Check(r.Stdout == "delta\n", "delta, whose server is well, did not have its turn: %s", r)
	for _, handle := range handles {
		m.Check(!e2e.Dead(before[handle].RecordedPID), "%s was ended and could not be started again", handle)
	}
	mustSayAll(m.inTime(3, append([]string{"stop"}, handles...)...))
	for _, handle := range handles {
		m.Check(e2e.Dead(before[handle].RecordedPID), "%s was not ended", handle)
	}
	mustSayAll(m.inTime(3, append([]string{"resume"}, handles...)...))
	for _, again := range goOn {
		again()
	}
	for _, handle := range handles {
		m.MustRemember(handle, before[handle], "--tmux-socket", "default")
	}
	m.MustRemember("delta", before["delta"], "--force")
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

// onSlowTmux runs all verbs, as [team.stuckServer] does. What takes few answers is done in time,
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
	m.OK("resume", "beta", "--force")
	m.OK("resume", "fallen")
	m.OK("spawn", "epsilon", "--prompt", "Remember 42.")
}

// What is in the place of tmux and prints for ever is said to be no tmux.
func TestVerbsOnATmuxThatPrintsForEver(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	was := m.Env
	m.Env = append(slices.Clone(was), m.Before(m.Program("tmux", "exec yes")))
	m.allInTime([]attempt{
		{"list", nil, 6, "tmux printed too much"},
		{"resume", []string{"alpha", "--force"}, 6, "tmux printed too much"},
		{"attach", []string{"alpha"}, 6, "tmux printed too much"},
		{"spawn", []string{"beta", "--prompt", "Remember 42."}, 6, "tmux printed too much"},
	}, "hint: is it tmux at all? ")
	m.Env = was
	m.MustBeLeftAlone("alpha", before)
	m.MustRemember("alpha", before, "--force")
	m.OK("resume", "beta")
	m.MustAnswer("beta", "OK, I will remember 42.")
}
