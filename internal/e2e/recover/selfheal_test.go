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

// A claude that was killed comes back in a second: the same conversation, model and permissions, in
// the same pane, by a start of its own that the journal explains. Nothing of the last one is left.
func TestKilledAgentComesBackByItself(t *testing.T) {
	m := standIn(t)
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

// limited kills the claude of alpha, whose launcher then waits for the end of a usage limit: the next start says that it is
// reached for as long as the file is there.
func (m *team) limited(limit string) restart {
	m.Helper()
	m.Write(limit, "")
	m.Kill(m.WaitState("alpha", "idle").RecordedPID, syscall.SIGKILL)
	m.WaitSession("alpha", "waits for its limit", func(s e2e.Session) bool {
		return strings.Contains(s.Cause, "waiting for a usage limit to end; it starts again in 1")
	})
	return m.restartOf("alpha")
}

// limitedTeam is a team whose claude meets a usage limit while there is a file.
func limitedTeam(t *testing.T) (m *team, limit string) {
	t.Helper()
	m = standIn(t)
	limit = filepath.Join(m.TempDir(), "limit")
	m.Env = append(m.Env, "NBS_CLAUDE="+m.Script(fmt.Sprintf("test -e %s && { echo 'Claude usage limit reached.'; exit 1; }\nexec %s \"$@\"", limit, rig.StandIn(t))))
	return m, limit
}

// While its launcher waits no claude lives, and that is said. A usage limit is no failure. A person need not wait, and
// what the policy remembers is forgotten then; the record remembers it when the launcher is killed.
func TestResumeWhileItsLauncherWaits(t *testing.T) {
	m, limit := limitedTeam(t)
	before := m.Remembers("alpha", "--restart", "on-failure")
	r := m.limited(limit)
	m.Check(r.State == "backoff" && !r.Running && r.Restart.Policy == "on-failure" && r.Restart.After == "quota" && r.Restart.Failures == 1 && r.Restart.Next != nil && r.Restart.Held == nil, "%+v", r) // the kill
	m.MustSay(m.OK("list"), "\tbackoff\t", "waiting for a usage limit to end; it starts again in ")
	m.MustSay(m.OK("reset", "alpha", "--json"), `{"handle":"alpha","failures":1,"held":null}`)
	launcher := m.Launcher("alpha")
	m.Must(os.Remove(limit))
	m.MustRemember("alpha", before)
	m.Check(e2e.Dead(launcher) && m.Launcher("alpha") != launcher, "the launcher that waited lives")
	m.Check(m.restartOf("alpha").Restart.Failures == 0, "%+v", m.restartOf("alpha"))

	m.limited(limit)
	m.Kill(m.Launcher("alpha"), syscall.SIGKILL)
	m.mustHaveDied("alpha", "crashed", "code 1")
	r = m.restartOf("alpha")
	m.Check(r.Restart.Failures == 1 && r.Restart.Next == nil, "%+v", r)
	m.Must(os.Remove(limit))
	m.MustRemember("alpha", before)
}

// However long its launcher would have waited, it leaves at once: when the agent is stopped or dismissed, and when its policy
// is taken back.
func TestWhatEndsTheWaitOfALauncher(t *testing.T) {
	m, limit := limitedTeam(t)
	m.OK("spawn", "alpha", "--restart", "on-failure")
	leaves := func(args ...string) {
		m.Helper()
		m.limited(limit)
		launcher := m.Launcher("alpha")
		m.OK(args...)
		m.WaitDead(launcher)
		m.Must(os.Remove(limit))
	}
	leaves("set", "alpha", "restart=no")
	m.mustHaveDied("alpha", "crashed", "code 1")
	m.OK("set", "alpha", "restart=on-failure")
	m.OK("resume", "alpha")
	leaves("stop", "alpha")
	m.MustBe("alpha", "stopped")
	m.OK("resume", "alpha")
	leaves("dismiss", "alpha")
}

// A pause of the project keeps launchers from starting anything. What is typed while no claude has the terminal is for
// nobody, and above all not for the next one.
func TestPauseKeepsAnAgentDown(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha", "--restart", "on-failure")
	paused := func() {
		m.Helper()
		m.OK("pause")
		m.Kill(m.WaitState("alpha", "idle").RecordedPID, syscall.SIGKILL)
		m.WaitSession("alpha", "waits", func(s e2e.Session) bool { return strings.Contains(s.Cause, "starts again when the pause has ended") })
	}
	paused()
	m.Tmux("send-keys", "-t", "="+before.TmuxSession+":", "rm -rf here", "Enter") // whether it shows is up to the launcher
	m.OK("unpause")
	m.waitBack(before)
	screen := m.OK("screen", "alpha")
	m.Check(!strings.Contains(screen, "rm -rf here"), "it is in its prompt: %s", screen)
	m.Check(m.Reply("alpha", "What number?") == "42", "it has forgotten")
	paused()
	m.OK("stop", "alpha")
	m.MustBe("alpha", "stopped")
}

// What is ended to be started anew is started once. Who leaves claude at its prompt wants it down; under "always" it comes
// back. None of it is a failure.
func TestEndsThatAreNoFailures(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha", "--restart", "on-failure")
	m.OK("resume", "alpha", "--force")
	after := m.WaitState("alpha", "idle")
	m.Check(after.RecordedPID != before.RecordedPID && len(m.Carrying("alpha")) == 2, "%+v, %v", after, m.Carrying("alpha")) // claude and its launcher
	m.TypeLine(after, "/exit")
	m.mustHaveDied("alpha", "exited", "a person ended it at its prompt")
	told := strings.Join(m.Journaled("alpha"), "\n")
	m.Check(strings.Contains(told, "down: stays down: code 0, and the restart policy is on-failure") && !strings.Contains(told, "backoff"), "%s", told)

	m.OK("set", "alpha", "restart=always")
	m.MustRemember("alpha", before)
	again := m.WaitState("alpha", "idle")
	m.TypeLine(again, "/exit")
	m.waitBack(again)
	m.Check(m.restartOf("alpha").Restart.Failures == 0, "%+v", m.restartOf("alpha"))
	m.OK("stop", "alpha")
	m.MustBe("alpha", "stopped")
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

// Without a login another start would end like the last.
func TestEndThatIsHeldAtOnce(t *testing.T) {
	m := standIn(t)
	marker := filepath.Join(m.TempDir(), "marker")
	m.Env = append(m.Env, "NBS_CLAUDE="+m.Script(fmt.Sprintf("test -e %s && { echo 'Invalid API key · Please run /login'; exit 1; }\nexec %s \"$@\"", marker, rig.StandIn(t))))
	before := m.Remembers("alpha", "--restart", "always")
	m.Write(marker, "")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	r := m.waitHeld()
	m.Check(r.Restart.Held.Class == "auth" && r.State == "crashed", "%+v", r)
	m.Must(os.Remove(marker))
	m.MustRemember("alpha", before)
	m.Check(m.restartOf("alpha").Restart.Held == nil, "resume leaves it held: %+v", m.restartOf("alpha"))
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
