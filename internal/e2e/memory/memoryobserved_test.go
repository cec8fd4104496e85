package memory

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// worked is what memory work --once has done.
func (m *team) worked(args ...string) (done struct{ Turns, Observations int }) {
	m.Helper()
	m.Must(json.Unmarshal([]byte(m.OK(append([]string{"memory", "work", "--once", "--json"}, args...)...)), &done))
	return done
}

// What was observed is told to the successor of a conversation, and by name; what waits is said, and what is not to be observed is not.
func TestMemoryToldToASuccessor(t *testing.T) {
	m := standIn(t)
	m.Env = append(m.Env, "CLAUDE_CODE_MAX_RETRIES=1")
	m.OK("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: The gate is of oak")
	m.WaitState("alpha", "idle")
	m.OK("send", "alpha", "open end: The roof leaks", "--wait-reply")
	done := m.worked()
	m.Check(done.Turns == 2 && done.Observations >= 2, "%+v", done)
	m.OK("resume", "alpha", "--force", "--fresh", "--brief")
	_, sent := m.FirstRequest(m.Session("alpha").SessionID)
	m.MustSay(sent, ", open end: The roof leaks\n", ", decision: The gate is of oak\n", "\n> open end: The roof leaks\n")
	m.OK("send", "alpha", "[[observer error 529]] decision: Later", "--wait-reply")
	r := m.NBS("memory", "work", "--once")
	m.Check(r.Code == 7 && strings.Contains(r.Stderr, "not everything was observed"), "while the API is overloaded: %s", r)
	m.MustSay(m.OK("memory", "status"), "overloaded")
	m.OK("memory", "off", "alpha")
	m.OK("send", "alpha", "decision: Not to be remembered", "--wait-reply")
	m.Check(m.worked().Turns == 0 && !strings.Contains(m.OK("memory", "list"), "Not to be"), "%s", m.OK("memory", "list"))
}

// serve observes too, also an agent whose memory is switched on while it runs; one worker a project. What runs until it
// is interrupted says so by its code.
func TestMemoryWithinServe(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", "decision: The gate is of oak")
	m.WaitState("alpha", "idle")
	serving := m.Begin("serve")
	m.OK("memory", "on", "alpha")
	m.WaitFor("what was said before is observed", func() (bool, string) {
		out := m.OK("memory", "list")
		return strings.Contains(out, "The gate is of oak"), out + m.OK("memory", "status")
	})
	m.OK("send", "alpha", "fix: The hinge is oiled", "--wait-reply")
	m.WaitFor("a turn is observed", func() (bool, string) {
		out := m.OK("memory", "list")
		return strings.Contains(out, "The hinge is oiled"), out
	})
	m.Refused(5, "already observes the agents", "memory", "work", "--once")
	m.Must(serving.Process.Signal(syscall.SIGINT))
	serving.End()
	working := m.Begin("memory", "work", "--handle", "alpha")
	m.OK("send", "alpha", "change: The roof is red", "--wait-reply")
	m.WaitFor("the next turn is observed", func() (bool, string) {
		out := m.OK("memory", "list")
		return strings.Contains(out, "The roof is red"), out
	})
	m.Must(working.Process.Signal(syscall.SIGINT))
	r := working.End()
	m.Check(r.Code == 130 && r.Stderr == "", "memory work ended so: %s", r)
	left, err := os.ReadDir(m.World.Project + "/.nbs/memory/spool")
	m.Must(err)
	rig.Equal(m, len(left), 0, "announcements that are left")
}

// An observer is no agent: adopt says what it is, list knows nothing of it, and its conversation becomes neither an agent's nor
// one of ask's. Where its worker is killed while it hangs, doctor says who will end it, and so it comes.
func TestAnObserverIsNobodyToAdopt(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: one [[observer delay 5s]]")
	m.WaitState("alpha", "idle")
	work := m.Begin("memory", "work")
	pid := m.WaitListed("observes an agent for the memory")
	m.Kill(pid, syscall.SIGSTOP)
	m.Kill(work.Process.Pid, syscall.SIGKILL)
	_ = work.End()
	m.Refused(4, "observes an agent for the memory", "adopt", "other", "--pid", strconv.Itoa(pid))
	rig.Equal(m, strings.Count(m.OK("list"), "\n"), 1, "agents in the list")
	m.Doctor(0).Finds(m.Team, "conversations.left", "note", fmt.Sprintf("pid %d, and the process that started it has ended", pid))
	m.MustSay(m.NBS("doctor").Stdout, "the next memory work of its project ends it")
	m.Check(m.worked().Turns == 1, "the turn is not observed")
	m.Check(e2e.Dead(pid), "it runs still")
	m.Doctor(0).IsWell(m.Team, "conversations.left")

	var status struct{ Conversations []struct{ Observer string } }
	m.Decode(&status, "memory", "status", "--json")
	observer := status.Conversations[0].Observer
	m.Refused(4, observer+" observes an agent for the memory, and is not an agent's own", "spawn", "beta", "--session-id", observer, "--cwd", m.World.Project)
	file := m.World.Root + "/session_id.txt"
	m.Write(file, observer)
	m.Refused(4, observer+" observes an agent for the memory", "conversation", "import", file)
	rig.Equal(m, strings.Count(m.OK("list"), "\n")+strings.Count(m.OK("conversation", "list"), "\n"), 1, "agents and conversations")
	m.OK("memory", "check")
}
