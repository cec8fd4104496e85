package recover

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
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
	m.Must(e2e.One(m.OK("session", handle, "--json"), &r))
	return r
}

// waitBack waits until an agent runs in another process than before, and is ready.
func (m *team) waitBack(before e2e.Session) e2e.Session {
	m.Helper()
	return m.WaitSession("alpha", "is back", func(s e2e.Session) bool { return s.State == "idle" && s.RecordedPID != before.RecordedPID })
}

// waitHeld waits until the journal says that the agent is held.
func (m *team) waitHeld() restart {
	m.Helper()
	m.WaitFor("it is held", func() (bool, string) { return strings.Contains(m.Journal(), `"event":"held"`), m.Journal() })
	var r restart
	m.WaitFor("it is held and down", func() (bool, string) { // the journal has it a moment before
		r = m.restartOf("alpha")
		return r.Restart.Held != nil && !r.Running, fmt.Sprintf("%+v", r)
	})
	return r
}

// waitBackoff waits until the launcher waits to start the agent again.
func (m *team) waitBackoff() restart {
	m.Helper()
	m.WaitState("alpha", "backoff")
	return m.restartOf("alpha")
}

// A claude that was killed comes back in a second: the same conversation, model and permissions, in
// the same pane, by a start of its own that the journal explains. Nothing of the last one is left.
func TestKilledAgentComesBackByItself(t *testing.T) {
	m := real(t)
	before := m.Remembers("alpha", "--restart", "on-failure")
	first, launcher := e2e.Process(m.Record("alpha"))["invocation"], m.Launcher("alpha")
	for round := range 2 {
		was := m.Session("alpha")
		m.Kill(was.RecordedPID, syscall.SIGKILL)
		m.waitBack(was)
		m.Check(m.Reply("alpha", fmt.Sprintf("What number? Round %d.", round)) == "42", "it has forgotten")
	}
	after := m.WaitState("alpha", "idle")
	m.Check(after.SessionID == before.SessionID && after.Model == before.Model && after.PermissionMode == before.PermissionMode && len(after.Drift) == 0 && after.TmuxAlive,
		"before %+v\nafter %+v", before, after)
	m.Check(e2e.Process(m.Record("alpha"))["invocation"] != first && m.Launcher("alpha") == launcher, "its start has no name of its own, or another launcher")
	m.MustSay(strings.Join(m.Journaled("alpha"), "\n"), "exit: signal: killed\nbackoff: starts again in ", "failure 1 of 5 in 10 minutes\nstart: the same conversation",
		"\nrestart: the same conversation\n", "failure 2 of 5")
	m.MustSay(m.OK("screen", "alpha"), "42")
	m.OK("stop", "alpha")
	m.Check(e2e.Dead(launcher) && len(m.Carrying("alpha")) == 0, "something is left: %v", m.Carrying("alpha"))
}

// While its launcher waits no claude lives, and that is said; stop and dismiss end the wait at once.
func TestStopWhileItsLauncherWaits(t *testing.T) {
	for _, verb := range []string{"stop", "dismiss"} {
		t.Run(verb, func(t *testing.T) {
			m := standIn(t)
			m.OK("spawn", "alpha", "--restart", "on-failure")
			m.fail(3)
			r := m.waitBackoff()
			m.Check(!r.Running && r.Restart.Policy == "on-failure" && r.Restart.Failures == 3 && r.Restart.Next != nil && strings.Contains(r.Cause, "signal: killed; starts again in "), "%+v", r)
			m.MustSay(m.OK("list"), "\tbackoff\tsignal: killed; starts again in ")
			launcher := m.Launcher("alpha")
			m.OK(verb, "alpha")
			m.Check(e2e.Dead(launcher), "its launcher lives")
			if verb == "stop" {
				m.MustBe("alpha", "stopped")
			}
		})
	}
}

// fail kills the claude of an agent so many times, which is back in between.
func (m *team) fail(times int) {
	m.Helper()
	for n := range times {
		was := m.WaitState("alpha", "idle")
		m.Kill(was.RecordedPID, syscall.SIGKILL)
		if n < times-1 {
			m.waitBack(was)
		}
	}
}

// What is typed while no claude has the terminal is for nobody, and above all not for the next one.
func TestWhatIsTypedWhileItsLauncherWaits(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha", "--restart", "on-failure")
	m.fail(3)
	m.waitBackoff()
	s := m.Session("alpha")
	m.TypeLine(s, "rm -rf here")
	m.waitBack(s)
	screen := m.OK("screen", "alpha")
	m.Check(!strings.Contains(screen, "rm -rf here"), "it is in its prompt: %s", screen)
	m.Check(m.Reply("alpha", "What number?") == "42", "it has forgotten")
}

// A person need not wait. What the policy remembers is forgotten then.
func TestResumeWhileItsLauncherWaits(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha", "--restart", "on-failure")
	launcher := m.Launcher("alpha")
	m.fail(3)
	m.waitBackoff()
	m.MustRemember("alpha", before)
	m.Check(e2e.Dead(launcher) && m.Launcher("alpha") != launcher, "the launcher that waited lives")
	m.Check(m.restartOf("alpha").Restart.Failures == 0, "%+v", m.restartOf("alpha"))
}

// The record remembers what a launcher waited for that was killed.
func TestKilledLauncherLeavesItsMemory(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha", "--restart", "on-failure")
	m.fail(3)
	m.waitBackoff()
	m.Kill(m.Launcher("alpha"), syscall.SIGKILL)
	m.mustHaveDied("alpha", "crashed", "signal: killed")
	r := m.restartOf("alpha")
	m.Check(r.Restart.Failures == 3 && r.Restart.Next == nil, "%+v", r)
	m.MustRemember("alpha", before)
}

// Who leaves claude at its prompt wants it down, and so does who stops it.
func TestPersonWhoLeavesIsNoFailure(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha", "--restart", "on-failure")
	m.TypeLine(m.Session("alpha"), "/exit")
	m.mustHaveDied("alpha", "exited", "a person ended it at its prompt")
	m.MustSay(strings.Join(m.Journaled("alpha"), "\n"), "down: stays down: code 0, and the restart policy is on-failure")
	m.Check(m.restartOf("alpha").Restart.Failures == 0, "%+v", m.restartOf("alpha"))
}

// Under "always" it comes back all the same; not after a stop.
func TestAlwaysComesBackAfterAPersonHasLeft(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha", "--restart", "always")
	m.TypeLine(m.Session("alpha"), "/exit")
	m.waitBack(before)
	m.Check(m.restartOf("alpha").Restart.Failures == 0, "%+v", m.restartOf("alpha"))
	m.OK("stop", "alpha")
	m.MustBe("alpha", "stopped")
}

// An agent that is ended to be started anew is started once.
func TestForcedResumeIsNoFailure(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha", "--restart", "on-failure")
	m.OK("resume", "alpha", "--force")
	after := m.WaitState("alpha", "idle")
	m.Check(after.RecordedPID != before.RecordedPID && len(m.Carrying("alpha")) == 2, "%+v, %v", after, m.Carrying("alpha")) // claude and its launcher
	m.Check(!strings.Contains(strings.Join(m.Journaled("alpha"), "\n"), "backoff"), "%s", m.Journal())
}

// What falls again and again is quarantined, with the reason, and stays down until somebody looks.
func TestCrashLoopIsHeld(t *testing.T) {
	m := standIn(t, "die-after=300ms,die-code=7")
	_ = m.NBS("spawn", "alpha", "--restart", "on-failure", "--no-wait") // on a slow machine it sees the first end
	r := m.waitHeld()
	m.Check(r.State == "crashed" && r.Restart.Held.Class == "crash" && strings.HasSuffix(r.Cause, "held, it failed 5 times in 10 minutes, the last time by code 7"), "%+v", r)
	starts := 0
	for _, e := range m.Journaled("alpha") {
		if strings.HasPrefix(e, "start: ") {
			starts++
		}
	}
	m.Check(starts == 5, "%d starts: %s", starts, m.Journal())
	m.MustSay(m.OK("session", "alpha"), "Restart:         on-failure; it failed 5 of 5 times", "(crash): it failed 5 times")
}

// A command that waits no longer for what it has started decides nothing about it, however long it takes to end.
func TestCrashBeforeItsCommandHasEnded(t *testing.T) {
	m := standIn(t, "die-after=300ms")
	held := filepath.Join(m.Folder("held"), "held")
	m.Must(os.WriteFile(held, nil, 0o600))
	tmux, err := exec.LookPath("tmux")
	m.Must(err)
	late := m.Program("tmux", fmt.Sprintf(`%s "$@"; code=$?; case "$*" in *new-session*) while test -e %s; do sleep 0.02; done;; esac; exit $code`, tmux, held))
	spawn := m.BeginWith([]string{m.Before(late)}, "spawn", "alpha", "--restart", "on-failure", "--no-wait")
	m.WaitFor("its launcher is to start it again", func() (bool, string) { return strings.Contains(m.Journal(), `"event":"backoff"`), m.Journal() })
	m.Must(os.Remove(held))
	spawn.End()
	m.WaitFor("it was started again", func() (bool, string) { return strings.Count(m.Journal(), `"event":"start"`) > 1, m.Journal() })
	m.OK("stop", "alpha")
}

// Without a login, and where claude refuses, another start would end like the last.
func TestEndsThatAreHeldAtOnce(t *testing.T) {
	for class, words := range map[string]string{"auth": "Invalid API key · Please run /login", "config": "No conversation found with session ID"} {
		t.Run(class, func(t *testing.T) {
			m := standIn(t)
			marker := filepath.Join(t.TempDir(), "marker")
			m.Env = append(m.Env, "NBS_CLAUDE="+m.Script(fmt.Sprintf("test -e %s && { echo '%s'; exit 1; }\nexec %s \"$@\"", marker, words, rig.StandIn(t))))
			before := m.Remembers("alpha", "--restart", "always")
			m.Must(os.WriteFile(marker, nil, 0o600))
			m.Kill(before.RecordedPID, syscall.SIGKILL)
			r := m.waitHeld()
			m.Check(r.Restart.Held.Class == class && r.State == "crashed", "%+v", r)
			m.Must(os.Remove(marker))
			m.MustRemember("alpha", before)
			m.Check(m.restartOf("alpha").Restart.Held == nil, "resume leaves it held: %+v", m.restartOf("alpha"))
		})
	}
}

// A usage limit is waited for, and is no failure; who has bought more need not wait.
func TestUsageLimitIsWaitedFor(t *testing.T) {
	m := standIn(t)
	before, marker := m.limited()
	r := m.restartOf("alpha")
	m.Check(r.State == "backoff" && r.Restart.After == "quota" && r.Restart.Failures == 1 && r.Restart.Held == nil, "%+v", r) // the kill
	m.Must(os.Remove(marker))
	m.MustRemember("alpha", before)
}

// limited has an agent wait for the end of a usage limit, which lasts as long as the file is there.
func (m *team) limited() (before e2e.Session, marker string) {
	m.Helper()
	marker = filepath.Join(m.TempDir(), "marker")
	m.Env = append(m.Env, "NBS_CLAUDE="+m.Script(fmt.Sprintf("test -e %s && { echo 'Claude usage limit reached.'; exit 1; }\nexec %s \"$@\"", marker, rig.StandIn(m.T))))
	before = m.Remembers("alpha", "--restart", "on-failure")
	m.Must(os.WriteFile(marker, nil, 0o600))
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitSession("alpha", "waits for its limit", func(s e2e.Session) bool {
		return strings.Contains(s.Cause, "waiting for a usage limit to end; it starts again in 1")
	})
	return before, marker
}

// Nobody is started into a conversation that another claude has opened meanwhile.
func TestStrangerInTheConversationHolds(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha", "--restart", "on-failure")
	launcher := m.Launcher("alpha")
	m.Kill(launcher, syscall.SIGSTOP)
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	stranger := m.ByHand("stranger", "--resume", before.SessionID)
	m.WaitIdle(m.World.ConfigDir, stranger)
	m.Kill(launcher, syscall.SIGCONT)
	r := m.waitHeld()
	m.Check(r.Restart.Held.Class == "conflict" && strings.Contains(r.Restart.Held.Reason, fmt.Sprint("pid ", stranger)), "%+v", r)
	m.MustLive(stranger)
}

// A pause of the project keeps launchers from starting anything.
func TestPauseKeepsAnAgentDown(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha", "--restart", "on-failure")
	m.OK("pause")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitSession("alpha", "waits", func(s e2e.Session) bool { return strings.Contains(s.Cause, "starts again when the pause has ended") })
	m.OK("stop", "alpha")
	m.MustBe("alpha", "stopped")
}

// In a person's own terminal it comes back there, and says so while nothing runs in it.
func TestKilledAgentComesBackInItsTerminal(t *testing.T) {
	m := standIn(t)
	c := m.Console(m.Command([]string{"spawn", "alpha", "Remember 42.", "--foreground", "--restart", "on-failure"}))
	m.WaitFor("it is recorded", func() (bool, string) { return e2e.Exists(m.RecordPath("alpha")), "" })
	m.MustBeWritten(m.Session("alpha").SessionID, "OK, I will remember 42.") // else nothing would be left to come back to
	before := m.WaitState("alpha", "idle")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	c.MustShow("nbs-worker: alpha starts again in ")
	after := m.waitBack(before)
	m.Check(after.SessionID == before.SessionID && !after.TmuxAlive, "%+v", after)
	m.WaitFor("its start is proved", func() (bool, string) {
		told := strings.Join(m.Journaled("alpha"), "\n")
		return strings.Contains(told, "restart: "), told
	})
	m.Check(!strings.Contains(m.RecordText("alpha"), `"ready"`), "nobody saw whether it is logged in: %s", m.RecordText("alpha"))
	m.OK("stop", "alpha")
	_ = c.Cmd.Wait()
	m.Check(c.Cmd.ProcessState.ExitCode() == 143, "the launcher ended with %v", c.Cmd.ProcessState)
}
