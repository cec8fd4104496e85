package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// worked is what memory work --once has done.
func (m *team) worked(args ...string) (done struct{ Turns, Observations int }) {
	m.Helper()
	m.must(json.Unmarshal([]byte(m.ok(append([]string{"memory", "work", "--once", "--json"}, args...)...)), &done))
	return done
}

// What was observed is told to the successor of a conversation, and by name; what waits is said, and what is not to be observed is not.
func TestMemoryToldToASuccessor(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		m.env = append(m.env, "CLAUDE_CODE_MAX_RETRIES=1")
		m.ok("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: The gate is of oak")
		m.waitState("alpha", "idle")
		m.ok("send", "alpha", "open end: The roof leaks", "--wait-reply")
		done := m.worked()
		m.check(done.Turns == 2 && done.Observations >= 2, "%+v", done)
		m.ok("resume", "alpha", "--force", "--fresh", "--brief")
		_, sent := m.firstRequest(m.session("alpha").SessionID)
		m.mustSay(sent, ", open end: The roof leaks\n", ", decision: The gate is of oak\n", "\n> open end: The roof leaks\n")
		m.ok("send", "alpha", "[[observer error 529]] decision: Later", "--wait-reply")
		r := m.nbs("memory", "work", "--once")
		m.check(r.code == 7 && strings.Contains(r.stderr, "not all of "), "while the API is overloaded: %s", r)
		m.mustSay(m.ok("memory", "status"), "overloaded")
		m.ok("memory", "off", "alpha")
		m.ok("send", "alpha", "decision: Not to be remembered", "--wait-reply")
		m.check(m.worked().Turns == 0 && !strings.Contains(m.ok("memory", "list"), "Not to be"), "%s", m.ok("memory", "list"))
	})
}

// serve observes too, also an agent whose memory is switched on while it runs; one worker a project. What runs until it
// is interrupted says so by its code.
func TestMemoryWithinServe(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet", "--prompt", "decision: The gate is of oak")
	m.waitState("alpha", "idle")
	serving := m.begin("serve")
	m.ok("memory", "on", "alpha")
	m.waitFor("what was said before is observed", func() (bool, string) {
		out := m.ok("memory", "list")
		return strings.Contains(out, "The gate is of oak"), out + m.ok("memory", "status")
	})
	m.ok("send", "alpha", "fix: The hinge is oiled", "--wait-reply")
	m.waitFor("a turn is observed", func() (bool, string) {
		out := m.ok("memory", "list")
		return strings.Contains(out, "The hinge is oiled"), out
	})
	m.refused(5, "observed already", "memory", "work", "--once")
	m.must(serving.Process.Signal(syscall.SIGINT))
	serving.end()
	working := m.begin("memory", "work", "--handle", "alpha")
	m.ok("send", "alpha", "change: The roof is red", "--wait-reply")
	m.waitFor("the next turn is observed", func() (bool, string) {
		out := m.ok("memory", "list")
		return strings.Contains(out, "The roof is red"), out
	})
	m.must(working.Process.Signal(syscall.SIGINT))
	r := working.end()
	m.check(r.code == 130 && r.stderr == "", "memory work ended so: %s", r)
	left, err := os.ReadDir(m.world.Project + "/.nbs/memory/spool")
	m.must(err)
	rig.Equal(m, len(left), 0, "announcements that are left")
}

// An observer is no agent: adopt says what it is, and list, doctor and the archive know nothing of it.
func TestAnObserverIsNobodyToAdopt(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: one [[observer slow 1h]]")
	m.waitState("alpha", "idle")
	work := m.begin("memory", "work", "--once")
	m.nobodyToAdopt("observes an agent for the memory")
	rig.Equal(m, strings.Count(m.ok("list"), "\n"), 1, "agents in the list")
	m.must(work.Process.Signal(syscall.SIGINT))
	r := work.end()
	m.check(r.code == 130, "%s", r)
}

// The conversation of an observer becomes neither an agent's nor one of ask's: that is refused before anything is made.
func TestAnObserversConversationIsNotTakenUp(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: one")
	m.waitState("alpha", "idle")
	m.worked()
	var status struct{ Conversations []struct{ Observer string } }
	m.must(json.Unmarshal([]byte(m.ok("memory", "status", "--json")), &status))
	observer := status.Conversations[0].Observer
	m.refused(4, observer+" observes an agent for the memory, and is none itself", "spawn", "beta", "--session-id", observer, "--cwd", m.world.Project)
	file := m.world.Root + "/session_id.txt"
	m.must(os.WriteFile(file, []byte(observer), 0o600))
	m.refused(4, observer+" observes an agent for the memory", "conversation", "import", file)
	rig.Equal(m, strings.Count(m.ok("list"), "\n")+strings.Count(m.ok("conversation", "list"), "\n"), 1, "agents and conversations")
	m.ok("memory", "check")
}

// A worker is killed while its observer hangs: doctor says who will end that one, and so it comes.
func TestAnObserverThatHangsWithoutItsWorker(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet", "--memory", "--prompt", "decision: one [[observer slow 5s]]")
	m.waitState("alpha", "idle")
	work := m.begin("memory", "work")
	pid := m.waitListed("observes an agent for the memory")
	m.kill(pid, syscall.SIGSTOP)
	m.kill(work.Process.Pid, syscall.SIGKILL)
	_ = work.end()
	m.doctor(0).finds(m, "conversations.left", "note", fmt.Sprintf("pid %d, and who ran it is gone", pid))
	m.mustSay(m.nbs("doctor").stdout, "who observes the agents of that project next ends it")
	m.check(m.worked().Turns == 1, "the turn is not observed")
	m.check(dead(pid), "it runs still")
	m.doctor(0).isWell(m, "conversations.left")
}
