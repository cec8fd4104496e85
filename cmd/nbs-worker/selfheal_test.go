package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Agents that their launcher starts again by itself.

// restart is what session tells of a restart policy.
type restart struct {
	Restart struct {
		Policy   string
		Failures int
		Next     *string
		After    string
		Held     *struct{ Class, Reason string }
	}
	State, Cause string
	Running      bool
}

func (m *team) restartOf(handle string) (r restart) {
	m.Helper()
	m.decode(&r, "session", handle, "--json")
	return r
}

// journaled are the events of an agent, oldest first, by name and detail.
func (m *team) journaled(handle string) (all []string) {
	m.Helper()
	for line := range strings.Lines(m.journal()) {
		var e struct{ Event, Handle, Detail string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Handle == handle {
			all = append(all, e.Event+": "+e.Detail)
		}
	}
	return all
}

// waitBack waits until an agent runs in another process than before, and is ready.
func (m *team) waitBack(before session) session {
	m.Helper()
	return m.waitSession("alpha", "is back", func(s session) bool { return s.State == "idle" && s.RecordedPID != before.RecordedPID })
}

// waitBackoff waits until the launcher waits to start the agent again.
func (m *team) waitBackoff() restart {
	m.Helper()
	m.waitState("alpha", "backoff")
	return m.restartOf("alpha")
}

// A claude that was killed comes back in a second: the same conversation, model and permissions, in
// the same pane, by a start of its own that the journal explains. Nothing of the last one is left.
func TestKilledAgentComesBackByItself(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		before := m.remembers("alpha", "--restart", "on-failure")
		first, launcher := process(m.record("alpha"))["invocation"], m.launcher("alpha")
		for round := range 2 {
			was := m.session("alpha")
			m.kill(was.RecordedPID, syscall.SIGKILL)
			m.waitBack(was)
			m.check(m.reply("alpha", fmt.Sprintf("What number? Round %d.", round)) == "42", "it has forgotten")
		}
		after := m.waitState("alpha", "idle")
		m.check(after.SessionID == before.SessionID && after.Model == before.Model && after.PermissionMode == before.PermissionMode && len(after.Drift) == 0 && after.TmuxAlive,
			"before %+v\nafter %+v", before, after)
		m.check(process(m.record("alpha"))["invocation"] != first && m.launcher("alpha") == launcher, "its start has no name of its own, or another launcher")
		m.mustSay(strings.Join(m.journaled("alpha"), "\n"), "exit: signal: killed\nbackoff: starts again in ", "failure 1 of 5 in 10 minutes\nstart: the same conversation",
			"\nrestart: the same conversation\n", "failure 2 of 5")
		m.mustSay(m.ok("screen", "alpha"), "42")
		m.ok("stop", "alpha")
		m.check(dead(launcher) && len(m.carrying("alpha")) == 0, "something is left: %v", m.carrying("alpha"))
	})
}

// While its launcher waits no claude lives, and that is said; stop and dismiss end the wait at once.
func TestStopWhileItsLauncherWaits(t *testing.T) {
	for _, verb := range []string{"stop", "dismiss"} {
		t.Run(verb, func(t *testing.T) {
			m := standIn(t)
			m.ok("spawn", "alpha", "--restart", "on-failure")
			m.fail(3)
			r := m.waitBackoff()
			m.check(!r.Running && r.Restart.Policy == "on-failure" && r.Restart.Failures == 3 && r.Restart.Next != nil && strings.Contains(r.Cause, "signal: killed; starts again in "), "%+v", r)
			m.mustSay(m.ok("list"), "\tbackoff\tsignal: killed; starts again in ")
			launcher := m.launcher("alpha")
			m.ok(verb, "alpha")
			m.check(dead(launcher), "its launcher lives")
			if verb == "stop" {
				m.mustBe("alpha", "stopped")
			}
		})
	}
}

// fail kills the claude of an agent so many times, which is back in between.
func (m *team) fail(times int) {
	m.Helper()
	for n := range times {
		was := m.waitState("alpha", "idle")
		m.kill(was.RecordedPID, syscall.SIGKILL)
		if n < times-1 {
			m.waitBack(was)
		}
	}
}

// What is typed while no claude has the terminal is for nobody, and above all not for the next one.
func TestWhatIsTypedWhileItsLauncherWaits(t *testing.T) {
	m := standIn(t)
	m.remembers("alpha", "--restart", "on-failure")
	m.fail(3)
	m.waitBackoff()
	s := m.session("alpha")
	m.typeLine(s, "rm -rf here")
	m.waitBack(s)
	screen := m.ok("screen", "alpha")
	m.check(!strings.Contains(screen, "rm -rf here"), "it is in its prompt: %s", screen)
	m.check(m.reply("alpha", "What number?") == "42", "it has forgotten")
}

// A person need not wait. What the policy remembers is forgotten then.
func TestResumeWhileItsLauncherWaits(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha", "--restart", "on-failure")
	launcher := m.launcher("alpha")
	m.fail(3)
	m.waitBackoff()
	m.mustRemember("alpha", before)
	m.check(dead(launcher) && m.launcher("alpha") != launcher, "the launcher that waited lives")
	m.check(m.restartOf("alpha").Restart.Failures == 0, "%+v", m.restartOf("alpha"))
}

// The record remembers what a launcher waited for that was killed.
func TestKilledLauncherLeavesItsMemory(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha", "--restart", "on-failure")
	m.fail(3)
	m.waitBackoff()
	m.kill(m.launcher("alpha"), syscall.SIGKILL)
	m.mustHaveDied("alpha", "crashed", "signal: killed")
	r := m.restartOf("alpha")
	m.check(r.Restart.Failures == 3 && r.Restart.Next == nil, "%+v", r)
	m.mustRemember("alpha", before)
}

// Who leaves claude at its prompt wants it down, and so does who stops it.
func TestPersonWhoLeavesIsNoFailure(t *testing.T) {
	m := real(t)
	m.remembers("alpha", "--restart", "on-failure")
	m.typeLine(m.session("alpha"), "/exit")
	m.mustHaveDied("alpha", "exited", "somebody ended it at its prompt")
	m.mustSay(strings.Join(m.journaled("alpha"), "\n"), "down: stays down: code 0, and the restart policy is on-failure")
	m.check(m.restartOf("alpha").Restart.Failures == 0, "%+v", m.restartOf("alpha"))
}

// Under "always" it comes back all the same; not after a stop.
func TestAlwaysComesBackAfterAPersonHasLeft(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha", "--restart", "always")
	m.typeLine(m.session("alpha"), "/exit")
	m.waitBack(before)
	m.check(m.restartOf("alpha").Restart.Failures == 0, "%+v", m.restartOf("alpha"))
	m.ok("stop", "alpha")
	m.mustBe("alpha", "stopped")
}

// An agent that is ended to be started anew is started once.
func TestForcedResumeIsNoFailure(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha", "--restart", "on-failure")
	m.ok("resume", "alpha", "--force")
	after := m.waitState("alpha", "idle")
	m.check(after.RecordedPID != before.RecordedPID && len(m.carrying("alpha")) == 2, "%+v, %v", after, m.carrying("alpha")) // claude and its launcher
	m.check(!strings.Contains(strings.Join(m.journaled("alpha"), "\n"), "backoff"), "%s", m.journal())
}

// What falls again and again is quarantined, with the reason, and stays down until somebody looks.
func TestCrashLoopIsHeld(t *testing.T) {
	m := standIn(t, "die-after=300ms,die-code=7")
	m.ok("spawn", "alpha", "--restart", "on-failure", "--no-wait")
	m.waitState("alpha", "crashed")
	m.waitSession("alpha", "is held", func(session) bool { return m.restartOf("alpha").Restart.Held != nil })
	r := m.restartOf("alpha")
	m.check(r.State == "crashed" && r.Restart.Held.Class == "crash" && strings.HasSuffix(r.Cause, "held, it failed 5 times in 10 minutes, the last time by code 7"), "%+v", r)
	starts := 0
	for _, e := range m.journaled("alpha") {
		if strings.HasPrefix(e, "start: ") {
			starts++
		}
	}
	m.check(starts == 5, "%d starts: %s", starts, m.journal())
	m.mustSay(m.ok("session", "alpha"), "Restart:         on-failure; it failed 5 of 5 times", "(crash): it failed 5 times")
}

// Without a login, and where claude refuses, another start would end like the last.
func TestEndsThatAreHeldAtOnce(t *testing.T) {
	for class, words := range map[string]string{"auth": "Invalid API key · Please run /login", "config": "No conversation found with session ID"} {
		t.Run(class, func(t *testing.T) {
			m := standIn(t)
			marker := filepath.Join(t.TempDir(), "marker")
			m.env = append(m.env, "NBS_CLAUDE="+m.script(fmt.Sprintf("test -e %s && { echo '%s'; exit 1; }\nexec %s \"$@\"", marker, words, rig.StandIn(t))))
			before := m.remembers("alpha", "--restart", "always")
			m.must(os.WriteFile(marker, nil, 0o600))
			m.kill(before.RecordedPID, syscall.SIGKILL)
			m.waitSession("alpha", "is held", func(session) bool { return m.restartOf("alpha").Restart.Held != nil })
			r := m.restartOf("alpha")
			m.check(r.Restart.Held.Class == class && r.State == "crashed", "%+v", r)
			m.must(os.Remove(marker))
			m.mustRemember("alpha", before)
			m.check(m.restartOf("alpha").Restart.Held == nil, "resume leaves it held: %+v", m.restartOf("alpha"))
		})
	}
}

// A usage limit is waited for, and is no failure; who has bought more need not wait.
func TestUsageLimitIsWaitedFor(t *testing.T) {
	m := standIn(t)
	before, marker := m.limited()
	r := m.restartOf("alpha")
	m.check(r.State == "backoff" && r.Restart.After == "quota" && r.Restart.Failures == 1 && r.Restart.Held == nil, "%+v", r) // the kill
	m.must(os.Remove(marker))
	m.mustRemember("alpha", before)
}

// limited has an agent wait for the end of a usage limit, which lasts as long as the file is there.
func (m *team) limited() (before session, marker string) {
	m.Helper()
	marker = filepath.Join(m.TempDir(), "marker")
	m.env = append(m.env, "NBS_CLAUDE="+m.script(fmt.Sprintf("test -e %s && { echo 'Claude usage limit reached.'; exit 1; }\nexec %s \"$@\"", marker, rig.StandIn(m.T))))
	before = m.remembers("alpha", "--restart", "on-failure")
	m.must(os.WriteFile(marker, nil, 0o600))
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitSession("alpha", "waits for its limit", func(s session) bool {
		return strings.Contains(s.Cause, "a usage limit is waited for; it starts again in 1")
	})
	return before, marker
}

// Nobody is started into a conversation that another claude has opened meanwhile.
func TestStrangerInTheConversationHolds(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha", "--restart", "on-failure")
	launcher := m.launcher("alpha")
	m.kill(launcher, syscall.SIGSTOP)
	m.kill(before.RecordedPID, syscall.SIGKILL)
	stranger := m.byHand("stranger", "--resume", before.SessionID)
	m.waitIdle(m.world.ConfigDir, stranger)
	m.kill(launcher, syscall.SIGCONT)
	m.waitSession("alpha", "is held", func(session) bool { return m.restartOf("alpha").Restart.Held != nil })
	r := m.restartOf("alpha")
	m.check(r.Restart.Held.Class == "conflict" && strings.Contains(r.Restart.Held.Reason, fmt.Sprint("pid ", stranger)), "%+v", r)
	m.mustLive(stranger)
}

// A pause of the project keeps launchers from starting anything.
func TestPauseKeepsAnAgentDown(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha", "--restart", "on-failure")
	m.ok("pause")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitSession("alpha", "waits", func(s session) bool { return strings.Contains(s.Cause, "starts again when the pause has ended") })
	m.ok("stop", "alpha")
	m.mustBe("alpha", "stopped")
}

// In a person's own terminal it comes back there, and says so while nothing runs in it.
func TestKilledAgentComesBackInItsTerminal(t *testing.T) {
	m := standIn(t)
	c := m.console(m.command([]string{"spawn", "alpha", "Remember 42.", "--foreground", "--restart", "on-failure"}))
	m.waitFor("it is recorded", func() (bool, string) { r := m.nbs("session", "alpha"); return r.code == 0, r.String() })
	m.mustBeWritten(m.session("alpha").SessionID, "OK, I will remember 42.") // else nothing would be left to come back to
	before := m.waitState("alpha", "idle")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	c.mustShow("nbs-worker: alpha starts again in ")
	after := m.waitBack(before)
	m.check(after.SessionID == before.SessionID && !after.TmuxAlive, "%+v", after)
	m.waitFor("its start is proved", func() (bool, string) {
		told := strings.Join(m.journaled("alpha"), "\n")
		return strings.Contains(told, "restart: "), told
	})
	m.check(!strings.Contains(m.recordText("alpha"), `"ready"`), "nobody saw whether it is logged in: %s", m.recordText("alpha"))
	m.ok("stop", "alpha")
	_ = c.cmd.Wait()
	m.check(c.cmd.ProcessState.ExitCode() == 143, "the launcher ended with %v", c.cmd.ProcessState)
}
