package recover

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// recovered is what recover --json tells of an agent.
type recovered struct {
	Handle string
	Before e2e.Assessment
	First  *int `json:"first_level"`
	Steps  []struct {
		Level             int
		What, Why, Result string
		Helped            bool
	}
	After *e2e.Assessment
	Left  string
}

// recover repairs agents; the code is that of the command.
func (m *team) recover(args ...string) (byHandle map[string]recovered, code int) {
	m.Helper()
	r := m.NBS(append([]string{"recover", "--json"}, args...)...)
	var all []recovered
	if err := json.Unmarshal([]byte(r.Stdout), &all); err != nil {
		m.Fatalf("%v in %s", err, r)
	}
	byHandle = map[string]recovered{}
	for _, c := range all {
		byHandle[c.Handle] = c
	}
	return byHandle, r.Code
}

// steps are the levels that were tried, each with whether it helped: "2- 4+".
func (c recovered) steps() string {
	var all []string
	for _, s := range c.Steps {
		all = append(all, fmt.Sprintf("%d%s", s.Level, map[bool]string{true: "+", false: "-"}[s.Helped]))
	}
	return strings.Join(all, " ")
}

// After a reboot, or the loss of the tmux server, one command brings back what should run: the same
// conversations, proven by what is remembered in them. Before it, a dry run says so and changes nothing.
func TestRecoverAfterTheServerWasLost(t *testing.T) {
	m := standIn(t)
	alpha := m.Remembers("alpha", "--permission-mode", "acceptEdits")
	m.OK("spawn", "beta", "--model", "sonnet")
	m.OK("spawn", "ended", "--model", "sonnet")
	m.OK("stop", "ended")
	beta := m.Session("beta")
	m.KillServer()
	m.WaitState("alpha", "lost: tmux")
	m.WaitState("beta", "lost: tmux")
	m.WaitFor("a look has written down why they ended", func() (bool, string) { // not before their launchers are gone
		m.OK("list")
		lines := m.OK("events")
		return strings.Contains(lines, "\tfound\talpha") && strings.Contains(lines, "\tfound\tbeta"), lines
	})

	before := m.RecordText("alpha") + m.RecordText("beta")
	events := m.OK("events")
	plan, code := m.recover("--all", "--dry-run")
	m.Check(code == 0 && len(plan) == 2, "exit code %d, %+v", code, plan)
	for _, c := range plan {
		m.Check(c.First != nil && *c.First == 3 && c.Before.Verdict == "dead" && len(c.Steps) == 0 && c.After == nil, "%+v", c)
	}
	after := m.RecordText("alpha") + m.RecordText("beta")
	m.Check(after == before && m.OK("events") == events, "a dry run changed something:\n%s\n%s\n%s", before, after, m.OK("events"))

	all, code := m.recover("--all", "--stagger", "0s", "--order", "beta")
	m.Check(code == 0 && len(all) == 2, "exit code %d, %+v", code, all)
	for handle, was := range map[string]e2e.Session{"alpha": alpha, "beta": beta} {
		c := all[handle]
		m.Check(c.steps() == "3+" && c.Left == "" && c.After.Verdict == "idle", "%s: %+v", handle, c)
		now := m.Session(handle)
		m.Check(now.SessionID == was.SessionID && now.PermissionMode == was.PermissionMode && now.Model == was.Model, "before %+v\nafter %+v", was, now)
		steps := m.Noted(handle, "recover")
		m.Check(len(steps) == 2 && strings.HasPrefix(steps[0], "level 3, resume: begun, because it is dead: lost: tmux") && strings.HasPrefix(steps[1], "level 3, resume: it helped: idle"), "%q", steps)
	}
	lines := m.OK("events")
	m.Check(strings.Index(lines, "\trecover\tbeta") < strings.Index(lines, "\trecover\talpha"), "beta should have had the first turn:\n%s", lines)
	m.MustBe("ended", "stopped")
	m.OK("send", "alpha", "What number?", "--wait-reply")
	m.MustAnswer("alpha", "42")

	again, code := m.recover("--all")
	m.Check(code == 0 && again["alpha"].steps()+again["beta"].steps() == "", "exit code %d, %+v", code, again)
}

// A power cut leaves no exits and no servers. The script of the runbooks is a call of recover.
func TestRecoverAfterAReboot(t *testing.T) {
	m := standIn(t)
	before := map[string]e2e.Session{}
	for _, handle := range []string{"alpha", "beta"} {
		before[handle] = m.Remembers(handle)
		m.KillUnnoticed(before[handle])
	}
	m.OK("spawn", "ended")
	m.OK("stop", "ended")
	m.KillServer()
	m.Worker = rig.WorkerWith(t, "-X nbs-worker/internal/platform/machine/local.testOnlyBootID=00000000-0000-4000-8000-000000000000")
	m.mustHaveDied("alpha", "lost: reboot", m.WaitState("alpha", "lost: reboot").Cause).mustAdvise(m, bringBack)
	script := exec.Command(filepath.Join(rig.Root(t), "scripts/recover-all"), "--stagger", "0s")
	script.Dir, script.Env = m.Dir, slices.Concat(m.Env, []string{m.Before(m.Worker)})
	m.MustSay(m.MustRun(script), "alpha\tdead\tresume helped", "beta\tdead\tresume helped")
	for handle, was := range before {
		m.MustBe(handle, "idle")
		m.MustRemember(handle, was, "--force")
	}
	m.MustBe("ended", "stopped")
}

// What works, what asks a person and what was ended are left alone, whatever the flags, and are reported.
func TestRecoverLeavesAloneWhatMustNotBeTouched(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "works", "--model", "sonnet", "--prompt", "[[delay 10m]] hello")
	m.StartAsking("spawn", "asks", "--model", "sonnet", "--permission-mode", "default", "--prompt", `[[tool Bash {"command":"touch `+m.Dir+`/ran","description":"w"}]]`)
	m.OK("spawn", "fell", "--model", "sonnet")
	asks := m.WaitState("asks", "waiting")
	works := m.Session("works")
	screen := m.Screen("asks")
	m.Kill(m.Session("fell").RecordedPID, syscall.SIGKILL)
	m.WaitState("fell", "crashed")

	all, code := m.recover("--all", "--yes", "--stagger", "0s")
	m.Check(code == 8, "exit code %d, %+v", code, all)
	m.Check(all["works"].steps() == "" && all["works"].After.Verdict == "healthy", "%+v", all["works"])
	m.Check(all["asks"].steps() == "" && all["asks"].Left == "it needs a person" && all["asks"].After.Verdict == "waiting", "%+v", all["asks"])
	m.Check(all["fell"].steps() == "3+" && all["fell"].After.Verdict == "idle", "%+v", all["fell"])
	named, code := m.recover("asks", "works", "--yes")
	m.Check(code == 8 && named["asks"].steps()+named["works"].steps() == "", "exit code %d, %+v", code, named)
	m.MustBeLeftAlone("works", works)
	m.MustBeLeftAlone("asks", asks)
	m.Check(m.Screen("asks") == screen, "the dialog changed:\n%s", m.Screen("asks"))
	m.MustBe("works", "busy")
}

// A process that executes nothing is pinged, which is a look, then ended and brought back.
func TestRecoverOfAZombie(t *testing.T) {
	m := standIn(t)
	alpha := m.Remembers("alpha")
	m.Kill(alpha.RecordedPID, syscall.SIGSTOP)
	m.WaitFor("the signal takes", func() (bool, string) {
		all, code := m.Triage("alpha")
		return all["alpha"].Verdict == "zombie" && code == 7, fmt.Sprintf("%+v", all)
	})
	all, code := m.recover("alpha")
	m.Check(code == 0 && all["alpha"].steps() == "1- 3+", "exit code %d, %+v", code, all)
	after := m.Session("alpha")
	m.Check(after.SessionID == alpha.SessionID && e2e.Dead(alpha.RecordedPID), "%+v", after)
}

// Where little context is left the conversation is compacted, and is the same one. One that Claude calls full is to be
// compacted, whatever its gauge says.
func TestRecoverCompacts(t *testing.T) {
	m := real(t) // the stand-in compacts nothing
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", "[[usage 820000]] Remember 42.")
	before := m.WaitState("alpha", "idle")
	all, code := m.recover("alpha", "--yes")
	m.Check(code == 0 && all["alpha"].steps() == "2+" && all["alpha"].After.Verdict == "idle", "exit code %d, %+v", code, all)
	m.MustSayOnce(m.OK("logs", "alpha"), "was compacted (manual)")
	m.Check(m.Session("alpha").SessionID == before.SessionID, "another conversation")

	_ = m.NBS("send", "alpha", "[[error too-long]] hello", "--wait-reply")
	m.WaitState("alpha", "failed")
	full, code := m.Triage("alpha")
	m.Check(code == 7, "exit code %d", code)
	m.mustJudge(full, map[string]judged{"alpha": {"stressed", 2, []string{"its conversation is full"}, "nbs-worker compact alpha"}})
}

// A turn in which nothing happens is looked at once more, and then interrupted.
func TestRecoverInterrupts(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", "Remember 42.")
	before := m.WaitState("alpha", "idle")
	m.OK("send", "alpha", "[[delay 10m]] hello")
	var all map[string]recovered
	var code int
	m.WaitFor("it is found stuck", func() (bool, string) {
		all, code = m.recover("alpha", "--patience", "3s")
		return all["alpha"].steps() != "", fmt.Sprintf("%+v", all)
	})
	m.Check(code == 0 && all["alpha"].Before.Verdict == "stuck" && all["alpha"].steps() == "1- 2+" && all["alpha"].After.Verdict == "idle", "exit code %d, %+v", code, all)
	m.MustBeLeftAlone("alpha", before)
}

// A conversation that is full is given up only where that is permitted; its agent is told where it is.
func TestRecoverInANewConversation(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	m.OK("send", "alpha", "[[usage 950000]] Remember 77.", "--wait-reply")
	before := m.WaitState("alpha", "idle")
	m.WaitFor("its context is told", func() (bool, string) {
		all, _ := m.Triage("alpha")
		return all["alpha"].Level == 4, fmt.Sprintf("%+v", all)
	})
	all, code := m.recover("alpha")
	m.Check(code == 1 && all["alpha"].steps() == "" && strings.Contains(all["alpha"].Left, "which is not permitted"), "exit code %d, %+v", code, all)
	m.MustBeLeftAlone("alpha", before)

	all, code = m.recover("alpha", "--yes")
	m.Check(code == 0 && all["alpha"].steps() == "4+", "exit code %d, %+v", code, all)
	after := m.Session("alpha")
	m.Check(after.SessionID != before.SessionID && after.Model == before.Model && after.PreviousSessions[0].SessionID == before.SessionID, "%+v", after)
	read := "nbs-worker logs alpha --session-id " + before.SessionID + " -n 40"
	asked, told := m.FirstRequest(after.SessionID)
	rig.Equal(m, asked, "Remember 42.", "the first prompt")
	m.MustSay(told, "Notes for agent alpha", "carry no authority", "(floor)", read, "> OK, I will remember 77.")
	m.MustSay(m.OK(strings.Fields(read)[1:]...), "OK, I will remember 42.")
}

// A run that was killed when it had replaced a conversation is gone on with: the agent is told of the old
// one, in the new one, and gets no third.
func TestRecoverGoesOnWithANewConversation(t *testing.T) {
	m := standIn(t, "start-delay=3s")
	m.OK("spawn", "alpha", "--prompt", "Remember 42.")
	before := m.WaitState("alpha", "idle")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	m.Lose(before)
	missing, code := m.Triage()
	m.Check(code == 7 && missing["alpha"].Verdict == "missing" && missing["alpha"].Level == 4, "exit code %d, %+v", code, missing)

	run := m.Begin("recover", "alpha", "--yes")
	m.WaitFor("the conversation is replaced, and claude started", func() (bool, string) {
		pid := m.pidOf("alpha")
		return m.Record("alpha")["session_id"] != before.SessionID && pid > 0 && pid != before.RecordedPID, m.RecordText("alpha")
	})
	m.Must(run.Process.Kill())
	run.End()
	m.KillServer()
	m.WaitDeath("alpha")
	second := m.Session("alpha")

	all, code := m.recover("alpha") // which the first one was permitted
	m.Check(code == 0 && all["alpha"].steps() == "4+", "exit code %d, %+v", code, all)
	after := m.Session("alpha")
	m.Check(after.SessionID == second.SessionID && len(after.PreviousSessions) == 1, "%+v", after)
	asked, told := m.FirstRequest(after.SessionID)
	rig.Equal(m, asked, "Remember 42.", "the first prompt")
	m.MustSay(told, "You are agent alpha, in a new conversation. Your earlier one, "+before.SessionID+", was given up")
}

// Where nobody is logged in, the first start ends the run: the others would only take up what cannot answer.
func TestRecoverEndsWhereNobodyIsLoggedIn(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("spawn", "beta", "--model", "sonnet")
	m.KillServer()
	m.WaitState("alpha", "lost: tmux")
	m.WaitState("beta", "lost: tmux")
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Project}, KeyRejected: true})
	m.Env = e2e.Without(m.Env, "ANTHROPIC_API_KEY")
	r := m.NBS("recover", "--all", "--stagger", "0s")
	m.MustRefuse(r, 8, "stopped early: claude is not logged in, after the start of alpha")
	m.MustSay(r.Stdout, "it needs a person: claude is not logged in", "beta\tdead\t-\tdead\tnot begun: claude is not logged in")
	m.MustBe("beta", "lost: tmux")
}

// A run that is killed in the middle is run again: the end is the same, and nothing was started twice.
func TestRecoverThatIsKilledIsRunAgain(t *testing.T) {
	m := standIn(t)
	before := map[string]e2e.Session{}
	for _, handle := range []string{"alpha", "beta"} {
		before[handle] = m.Remembers(handle)
	}
	m.KillServer()
	for handle := range before {
		m.WaitState(handle, "lost: tmux")
	}
	run := m.Begin("recover", "--all", "--stagger", "0s")
	m.WaitFor("the second one is begun", func() (bool, string) {
		journal := m.Journal()
		return strings.Count(journal, `"event":"recover"`) >= 3, journal
	})
	_ = run.Process.Kill() // it may just have ended
	run.End()
	m.OK("recover", "--all", "--stagger", "0s")
	for handle, was := range before {
		now := m.WaitState(handle, "idle")
		m.Check(len(e2e.ClaudesOn(was.SessionID)) == 1, "claudes on the conversation of %s: %v", handle, e2e.ClaudesOn(was.SessionID))
		m.Check(now.SessionID == was.SessionID && len(m.Noted(handle, "start")) == 2, "%s was started %d times: %+v", handle, len(m.Noted(handle, "start")), now)
		m.MustRemember(handle, was, "--force")
	}
}

// An agent may repair colleagues as far as it may start them; what is more is for a person.
func TestRecoverByAnAgentThatMayLess(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "wide", "--model", "sonnet")
	m.OK("spawn", "alike", "--model", "sonnet", "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
	for _, handle := range []string{"wide", "alike"} {
		m.Kill(m.Session(handle).RecordedPID, syscall.SIGKILL)
		m.WaitState(handle, "crashed")
	}
	said := m.AsAgent("alpha", "nbs-worker recover --all --yes --stagger 0s", "nbs-worker triage wide alike")
	m.MustSay(said[0], "wide\tdead\tresume did not help", "it needs a person: agent alpha called this, and an agent with the permission mode bypassPermissions",
		"alike\tdead\tresume helped", "\ncode 8\n")
	m.MustSay(said[1], "wide\tdead\t3\t", "alike\tidle\t0\t", "\ncode 7\n")
	m.MustBe("wide", "crashed")
	m.MustBe("alike", "idle")
}

// An agent on which another command is at work is left to that, which is named; the others have their turn.
func TestRecoverMeetsALockAndGoesOn(t *testing.T) {
	m := standIn(t)
	for _, handle := range []string{"alpha", "beta"} {
		m.OK("spawn", handle)
		m.Kill(m.Session(handle).RecordedPID, syscall.SIGKILL)
		m.WaitState(handle, "crashed")
	}
	lock, err := os.OpenFile(m.InNbs("locks", "alpha.verb"), os.O_RDWR, 0)
	m.Must(err)
	defer lock.Close()
	m.Must(unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	m.Must(lock.Truncate(0))
	_, err = fmt.Fprintf(lock, `{"pid":%d,"verb":"dismiss","handle":"alpha","since":"2026-02-20T12:00:00Z"}`, os.Getpid())
	m.Must(err)
	all, code := m.recover("--all", "--stagger", "0s")
	holder := fmt.Sprintf("another command is working on this agent: dismiss alpha, pid %d", os.Getpid())
	m.Check(code == 7 && strings.Contains(all["alpha"].Left, holder) && all["alpha"].After.Verdict == "dead", "exit code %d, %+v", code, all)
	m.Check(all["beta"].steps() == "3+" && all["beta"].After.Verdict == "idle", "%+v", all)
	m.Must(unix.Flock(int(lock.Fd()), unix.LOCK_UN))
	all, code = m.recover("--all")
	m.Check(code == 0 && all["alpha"].steps() == "3+", "exit code %d, %+v", code, all)
}
