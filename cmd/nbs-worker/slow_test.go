package main

import (
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

// A verb that meets with tmux servers that answer nobody waits for each of them once; one that
// answers late each time is waited for at each question.

// stopServer stops the tmux server of an agent and returns its pid and what makes it go on.
func (m *team) stopServer(handle string) (server int, goOn func()) {
	m.Helper()
	server = int(tmuxPlace(m.record(handle))["server_pid"].(float64))
	m.kill(server, syscall.SIGSTOP)
	goOn = func() { _ = syscall.Kill(server, syscall.SIGCONT) }
	m.Cleanup(goOn) // before the server is ended
	return server, goOn
}

// inTime runs a verb that must end with the code, in time.
func (m *team) inTime(code int, args ...string) result {
	m.Helper()
	begun := time.Now()
	r := m.nbs(args...)
	took := time.Since(begun)
	m.Logf("%v: %s, code %d", args, took.Round(10*time.Millisecond), r.code)
	m.check(r.code == code && took <= stuckLimit, "%v took %s; want code %d: %s", args, took, code, r)
	return r
}

func TestAgentsOnThreeStoppedServers(t *testing.T) {
	m := standIn(t)
	handles := []string{"alpha", "beta", "gamma"}
	before := map[string]session{}
	for _, handle := range handles {
		m.ok("spawn", handle, "--prompt", "Remember 42.", "--tmux-socket", "of-"+handle)
		before[handle] = m.waitState(handle, "idle")
	}
	m.ok("spawn", "delta", "--prompt", "Remember 42.")
	before["delta"] = m.waitState("delta", "idle")
	var words, remedies []string
	var goOn []func()
	for _, handle := range handles {
		server, again := m.stopServer(handle)
		words = append(words, fmt.Sprintf("its server, pid %d, is stopped", server))
		remedies, goOn = append(remedies, fmt.Sprintf("kill -CONT %d", server)), append(goOn, again)
	}
	mustSayAll := func(r result) { t.Helper(); m.mustSay(r.stderr, slices.Concat(words, remedies)...) }
	mustSayAll(m.inTime(7, "list"))
	m.inTime(5, append([]string{"resume"}, handles...)...)
	m.mustSay(m.inTime(3, "resume", "alpha", "--force", "--tmux-socket", "of-beta").stderr, words[1], "the tmux server was silent for 2")
	mustSayAll(m.inTime(3, append([]string{"resume", "--force"}, handles...)...))
	r := m.inTime(7, "resume", "--force", "alpha", "delta")
	m.check(r.stdout == "delta\n", "delta, whose server is well, did not have its turn: %s", r)
	for _, handle := range handles {
		m.check(!dead(before[handle].RecordedPID), "%s was ended and could not be started again", handle)
	}
	mustSayAll(m.inTime(3, append([]string{"stop"}, handles...)...))
	for _, handle := range handles {
		m.check(dead(before[handle].RecordedPID), "%s was not ended", handle)
	}
	mustSayAll(m.inTime(3, append([]string{"resume"}, handles...)...))
	for _, again := range goOn {
		again()
	}
	for _, handle := range handles {
		m.mustRemember(handle, before[handle], "--tmux-socket", "default")
	}
	m.mustRemember("delta", before["delta"], "--force")
}

// slowTmux makes each tmux late from now on, though not so late that it is taken for silent:
// before it does what it is asked, or after.
func (m *team) slowTmux(late string) (fast func()) {
	m.Helper()
	const sleep = "sleep 1.5"
	was := m.env
	entry := m.beforeTmux(sleep)
	if late == "after" {
		tmux, err := exec.LookPath("tmux")
		m.must(err)
		path := m.program("tmux", fmt.Sprintf(`%s "$@"; code=$?; %s; exit $code`, tmux, sleep))
		entry = m.before(path)
	}
	m.env = append(slices.Clone(was), entry)
	return func() { m.env = was }
}

func TestVerbsOnASlowTmux(t *testing.T) {
	t.Parallel()
	for _, late := range []string{"before", "after"} {
		t.Run(late, func(t *testing.T) {
			m := standIn(t)
			before := map[string]session{}
			down := []string{"fallen", "halted", "gone"}
			for _, handle := range append([]string{"alpha", "beta", "gamma", "delta"}, down...) {
				m.ok("spawn", handle, "--prompt", "Remember 42.")
				before[handle] = m.waitState(handle, "idle")
			}
			m.ok(append([]string{"stop"}, down...)...)
			fast := m.slowTmux(late)
			m.onSlowTmux()
			fast()
			for _, handle := range []string{"beta", "gamma", "delta"} {
				m.check(dead(before[handle].RecordedPID), "%s was not ended", handle)
			}
			m.mustBeLeftAlone("alpha", before["alpha"])
			for _, handle := range []string{"beta", "fallen"} {
				m.mustRemember(handle, before[handle], "--force")
			}
			for _, handle := range []string{"gamma", "halted"} {
				m.mustRemember(handle, before[handle])
			}
			m.mustAnswer("epsilon", "OK, I will remember 42.")
			on := claudesOn(m.session("epsilon").SessionID)
			m.check(len(on) == 1, "claudes of epsilon: %v", on)
		})
	}
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
	m.ok("resume", "beta", "--force")
	m.ok("resume", "fallen")
	m.ok("spawn", "epsilon", "--prompt", "Remember 42.")
}

// What is in the place of tmux and prints for ever is said to be no tmux.
func TestVerbsOnATmuxThatPrintsForEver(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	was := m.env
	m.env = append(slices.Clone(was), m.before(m.program("tmux", "exec yes")))
	m.allInTime([]attempt{
		{"list", nil, 6, "tmux printed without end"},
		{"resume", []string{"alpha", "--force"}, 6, "tmux printed without end"},
		{"attach", []string{"alpha"}, 6, "tmux printed without end"},
		{"spawn", []string{"beta", "--prompt", "Remember 42."}, 6, "tmux printed without end"},
	}, "hint: is it tmux at all? ")
	m.env = was
	m.mustBeLeftAlone("alpha", before)
	m.mustRemember("alpha", before, "--force")
	m.ok("resume", "beta")
	m.mustAnswer("beta", "OK, I will remember 42.")
}
