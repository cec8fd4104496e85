package life

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// A tmux server that dies between two calls of one verb, and one that lost its socket.

// Each of its calls is struck in make faults.
func TestServerThatDiesBetweenTwoCalls(t *testing.T) {
	m := standIn(t)
	for _, verb := range []struct {
		args  []string
		live  bool // the agent, when the verb begins
		codes []int
	}{
		{[]string{"spawn", "alpha", "--prompt", "Remember 42."}, false, []int{0, 1}},
		{[]string{"resume", "alpha"}, false, []int{0, 1}},
		{[]string{"resume", "alpha", "--force"}, true, []int{0, 1}},
		{[]string{"stop", "alpha"}, true, []int{0}},
		{[]string{"list"}, true, []int{0}},
	} {
		id := m.beforeVerb(verb.args[0], verb.live)
		env, calls := m.murderous(m.ServerPID(), min(2, len(verb.args)))
		r := m.NBSWith(env, verb.args...)
		m.Check(slices.Contains(verb.codes, r.Code) && calls() > 0, "%q: %d calls: %s", verb.args, calls(), r)
		m.afterVerb(id)
	}
}

// beforeVerb brings the team to where a verb begins: a server with somebody's session,
// and an agent, live or stopped, unless the verb is to make it. It returns the session
// id.
func (m *team) beforeVerb(verb string, live bool) string {
	m.Helper()
	m.NBS("dismiss", "alpha")
	m.KillServer()
	m.KeepServer()
	if verb == "spawn" {
		return ""
	}
	m.OK("spawn", "alpha", "--prompt", "Remember 42.")
	id := m.WaitState("alpha", "idle").SessionID
	if !live {
		m.OK("stop", "alpha")
	}
	return id
}

// afterVerb looks that nothing is lost: one more command brings the agent back.
func (m *team) afterVerb(id string) {
	m.Helper()
	if r := m.NBS("session", "alpha"); r.Code == 2 { // dismissed: the id is in the journal
		m.OK("spawn", "alpha", "--session-id", id)
	}
	before := m.Session("alpha")
	m.Check(id == "" || before.SessionID == id, "the conversation was %s and is %s", id, before.SessionID)
	if id == "" { // its server may have died before claude took the prompt
		m.OK("resume", "alpha", "--force")
	} else {
		m.MustRemember("alpha", before, "--force")
	}
	on := e2e.ClaudesOn(before.SessionID)
	m.Check(len(on) == 1, "claudes on the conversation: %v", on)
}

// An agent that ends between two looks of one resume is not said to run.
func TestAgentThatDiesWhileItIsResumed(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	for _, force := range [][]string{nil, {"--force"}} {
		env, _ := m.murderous(m.Session("alpha").RecordedPID, 1)
		r := m.NBSWith(env, append([]string{"resume", "alpha"}, force...)...)
		m.Check(r.Code == 0, "resume %v: %s", force, r)
	}
	m.MustRemember("alpha", before, "--force")
}

// Agents whose tmux server was killed leave by themselves, some later than others: a resume
// that comes first waits for them.
func TestResumeRightAfterTheServerWasKilled(t *testing.T) {
	m := standIn(t, "stop-delay=1s")
	before := m.Remembers("alpha")
	m.OK("spawn", "beta")
	server := m.ServerPID()
	m.Kill(server, syscall.SIGKILL)
	m.WaitDead(server)
	r := m.NBS("resume", "alpha", "beta")
	m.Check(r.Code == 0, "%v", r)
	m.MustRemember("alpha", before, "--force")
}

func TestServerWithoutItsSocket(t *testing.T) {
	m := standIn(t)
	before := map[string]e2e.Session{}
	for _, handle := range []string{"alpha", "beta", "gamma"} {
		m.OK("spawn", handle, "--prompt", "Remember 42.")
		before[handle] = m.WaitState(handle, "idle")
	}
	first := m.ServerPID()
	t.Cleanup(func() { _ = syscall.Kill(first, syscall.SIGKILL) }) // its socket is another's by then
	socket := strings.TrimSpace(m.Tmux("display-message", "-p", "#{socket_path}"))
	m.Must(os.Remove(socket))

	words := fmt.Sprintf("the agent's tmux server, pid %d, cannot be reached: its socket %s is gone", first, strconv.Quote(socket))
	remedy := fmt.Sprintf("kill -USR1 %d", first)
	m.allInTime([]attempt{
		{"session", []string{"alpha"}, 6, words},
		{"list", nil, 6, words},
		{"attach", []string{"alpha"}, 6, words},
		{"resume", []string{"alpha"}, 5, "the agent runs already: idle"},
	}, remedy)
	m.OK("stop", "beta") // with its last process its session is gone, wherever that was
	m.MustSay(m.NBS("session", "alpha").Stdout, "running (verified)", "its server cannot be reached")
	m.Check(e2e.Dead(before["beta"].RecordedPID), "beta was not ended")
	// The way back that the hint names.
	m.Kill(first, syscall.SIGUSR1)
	m.WaitFor("the socket is back", func() (bool, string) { return e2e.Exists(socket), "" })
	m.mustAllLive("alpha")
	m.MustBeLeftAlone("alpha", before["alpha"])

	// The other way: a second server at the same place, with sessions of the same names.
	m.Must(os.Remove(socket))
	m.MustRemember("alpha", before["alpha"], "--force")
	m.MustRemember("beta", before["beta"])
	second := m.ServerPID()
	m.Check(second != first && e2e.Dead(before["alpha"].RecordedPID), "servers %d and %d; before %+v", first, second, before["alpha"])
	r := m.Refused(6, fmt.Sprintf("another server, pid %d, has taken its socket", second), "session", "gamma")
	m.MustSay(r.Stdout, "running (verified)")
	m.MustLive(before["gamma"].RecordedPID)
	m.OK("stop", "gamma")
	m.Check(e2e.Dead(before["gamma"].RecordedPID), "gamma was not ended")
	m.mustAllLive("alpha", "beta")
	m.MustRemember("gamma", before["gamma"])
}

// mustAllLive checks that agents run in sessions that can be reached.
func (m *team) mustAllLive(handles ...string) {
	m.Helper()
	for _, handle := range handles {
		s := m.Session(handle)
		m.Check(s.Running && s.TmuxAlive, "%s: %+v", handle, s)
	}
}
