package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A tmux server that dies between two calls of one verb, and one that lost its socket.

func TestServerThatDiesBetweenTwoCalls(t *testing.T) {
	t.Parallel()
	for name, verb := range map[string]struct {
		args  []string
		live  bool // the agent, when the verb begins
		codes []int
	}{
		"spawn":        {[]string{"spawn", "alpha", "--prompt", "Remember 42."}, false, []int{0, 1}},
		"resume":       {[]string{"resume", "alpha"}, false, []int{0, 1}},
		"resume force": {[]string{"resume", "alpha", "--force"}, true, []int{0, 1}},
		"stop":         {[]string{"stop", "alpha"}, true, []int{0}},
		"dismiss":      {[]string{"dismiss", "alpha"}, true, []int{0}},
		"session":      {[]string{"session", "alpha"}, true, []int{0}},
		"list":         {[]string{"list"}, true, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			m := standIn(t)
			for call, calls := 1, 1; call <= calls; call++ {
				id := m.beforeVerb(name, verb.live)
				env, made := m.murderous(m.serverPID(), call)
				r := m.nbsWith(env, verb.args...)
				calls = made()
				t.Logf("the server died before call %d of %d: code %d %s", call, calls, r.code, r.stderr)
				m.check(slices.Contains(verb.codes, r.code), "call %d: %s", call, r)
				m.afterVerb(id)
			}
		})
	}
}

// beforeVerb brings the team to where a verb begins: a server with somebody's session,
// and an agent, live or stopped, unless the verb is to make it. It returns the session
// id.
func (m *team) beforeVerb(verb string, live bool) string {
	m.Helper()
	m.nbs("dismiss", "alpha")
	m.killServer()
	m.keepServer()
	if verb == "spawn" {
		return ""
	}
	m.ok("spawn", "alpha", "--prompt", "Remember 42.")
	id := m.waitState("alpha", "idle").SessionID
	if !live {
		m.ok("stop", "alpha")
	}
	return id
}

// afterVerb looks that nothing is lost: one more command brings the agent back.
func (m *team) afterVerb(id string) {
	m.Helper()
	if r := m.nbs("session", "alpha"); r.code == 2 { // dismissed: the id is in the journal
		m.ok("spawn", "alpha", "--session-id", id)
	}
	before := m.session("alpha")
	m.check(id == "" || before.SessionID == id, "the conversation was %s and is %s", id, before.SessionID)
	m.mustRemember("alpha", before, "--force")
	on := claudesOn(before.SessionID)
	m.check(len(on) == 1, "claudes on the conversation: %v", on)
}

// An agent that ends between two looks of one resume is not said to run.
func TestAgentThatDiesWhileItIsResumed(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	for _, force := range [][]string{nil, {"--force"}} {
		env, _ := m.murderous(m.session("alpha").RecordedPID, 1)
		r := m.nbsWith(env, append([]string{"resume", "alpha"}, force...)...)
		m.check(r.code == 0, "resume %v: %s", force, r)
	}
	m.mustRemember("alpha", before, "--force")
}

// Agents whose tmux server was killed leave by themselves, some later than others: a resume
// that comes first waits for them.
func TestResumeRightAfterTheServerWasKilled(t *testing.T) {
	m := standIn(t, "stop-delay=1s")
	before := m.remembers("alpha")
	m.ok("spawn", "beta")
	server := m.serverPID()
	m.kill(server, syscall.SIGKILL)
	m.waitDead(server)
	r := m.nbs("resume", "alpha", "beta")
	m.check(r.code == 0, "%v", r)
	m.mustRemember("alpha", before, "--force")
}

func TestServerWithoutItsSocket(t *testing.T) {
	m := standIn(t)
	before := map[string]session{}
	for _, handle := range []string{"alpha", "beta", "gamma"} {
		m.ok("spawn", handle, "--prompt", "Remember 42.")
		before[handle] = m.waitState(handle, "idle")
	}
	first := m.serverPID()
	t.Cleanup(func() { _ = syscall.Kill(first, syscall.SIGKILL) }) // its socket is another's by then
	socket := strings.TrimSpace(m.tmux("display-message", "-p", "#{socket_path}"))
	m.must(os.Remove(socket))

	words := fmt.Sprintf("the agent's tmux server, pid %d, cannot be reached: its socket %s is gone", first, strconv.Quote(socket))
	remedy := fmt.Sprintf("kill -USR1 %d", first)
	m.allInTime([]attempt{
		{"session", []string{"alpha"}, 6, words},
		{"list", nil, 6, words},
		{"attach", []string{"alpha"}, 6, words},
		{"resume", []string{"alpha"}, 5, "the agent runs already: idle"},
	}, remedy)
	m.ok("stop", "beta") // with its last process its session is gone, wherever that was
	m.mustSay(m.nbs("session", "alpha").stdout, "running (verified)", "its server cannot be reached")
	m.check(dead(before["beta"].RecordedPID), "beta was not ended")
	// The way back that the hint names.
	m.kill(first, syscall.SIGUSR1)
	m.waitFor("the socket is back", func() (bool, string) { return exists(socket), "" })
	m.mustAllLive("alpha")
	m.mustBeLeftAlone("alpha", before["alpha"])

	// The other way: a second server at the same place, with sessions of the same names.
	m.must(os.Remove(socket))
	m.mustRemember("alpha", before["alpha"], "--force")
	m.mustRemember("beta", before["beta"])
	second := m.serverPID()
	m.check(second != first && dead(before["alpha"].RecordedPID), "servers %d and %d; before %+v", first, second, before["alpha"])
	r := m.refused(6, fmt.Sprintf("another one, pid %d, has its socket", second), "session", "gamma")
	m.mustSay(r.stdout, "running (verified)")
	m.mustLive(before["gamma"].RecordedPID)
	m.ok("stop", "gamma")
	m.check(dead(before["gamma"].RecordedPID), "gamma was not ended")
	m.mustAllLive("alpha", "beta")
	m.mustRemember("gamma", before["gamma"])
}
