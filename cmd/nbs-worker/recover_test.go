package main

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

	"nbs-worker/internal/sim/rig"
)

// recovered is what recover --json tells of an agent.
type recovered struct {
	Handle string
	Before assessment
	First  *int `json:"first_level"`
	Steps  []struct {
		Level             int
		What, Why, Result string
		Helped            bool
	}
	After *assessment
	Left  string
}

// recover repairs agents; the code is that of the command.
func (m *team) recover(args ...string) (byHandle map[string]recovered, code int) {
	m.Helper()
	r := m.nbs(append([]string{"recover", "--json"}, args...)...)
	var all []recovered
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil {
		m.Fatalf("%v in %s", err, r)
	}
	byHandle = map[string]recovered{}
	for _, c := range all {
		byHandle[c.Handle] = c
	}
	return byHandle, r.code
}

// steps are the levels that were tried, each with whether it helped: "2- 4+".
func (c recovered) steps() string {
	var all []string
	for _, s := range c.Steps {
		all = append(all, fmt.Sprintf("%d%s", s.Level, map[bool]string{true: "+", false: "-"}[s.Helped]))
	}
	return strings.Join(all, " ")
}

// noted are the events of one kind in an agent's journal.
func (m *team) noted(handle, event string) (details []string) {
	m.Helper()
	for line := range strings.Lines(m.ok("events", handle, "--json")) {
		var e struct{ Event, Detail string }
		m.must(json.Unmarshal([]byte(line), &e))
		if e.Event == event {
			details = append(details, e.Detail)
		}
	}
	return details
}

// After a reboot, or the loss of the tmux server, one command brings back what should run: the same
// conversations, proven by what is remembered in them. Before it, a dry run says so and changes nothing.
func TestRecoverAfterTheServerWasLost(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		alpha := m.remembers("alpha", "--permission-mode", "acceptEdits")
		m.ok("spawn", "beta", "--model", "sonnet")
		m.ok("spawn", "ended", "--model", "sonnet")
		m.ok("stop", "ended")
		beta := m.session("beta")
		m.killServer()
		m.waitState("alpha", "lost: tmux")
		m.waitState("beta", "lost: tmux")
		m.waitFor("a look has written down why they ended", func() (bool, string) { // not before their launchers are gone
			m.ok("list")
			lines := m.ok("events")
			return strings.Contains(lines, "\tfound\talpha") && strings.Contains(lines, "\tfound\tbeta"), lines
		})

		before := m.recordText("alpha") + m.recordText("beta")
		events := m.ok("events")
		plan, code := m.recover("--all", "--dry-run")
		m.check(code == 0 && len(plan) == 2, "exit code %d, %+v", code, plan)
		for _, c := range plan {
			m.check(c.First != nil && *c.First == 3 && c.Before.Verdict == "dead" && len(c.Steps) == 0 && c.After == nil, "%+v", c)
		}
		after := m.recordText("alpha") + m.recordText("beta")
		m.check(after == before && m.ok("events") == events, "a dry run changed something:\n%s\n%s\n%s", before, after, m.ok("events"))

		all, code := m.recover("--all", "--stagger", "0s", "--order", "beta")
		m.check(code == 0 && len(all) == 2, "exit code %d, %+v", code, all)
		for handle, was := range map[string]session{"alpha": alpha, "beta": beta} {
			c := all[handle]
			m.check(c.steps() == "3+" && c.Left == "" && c.After.Verdict == "idle", "%s: %+v", handle, c)
			now := m.session(handle)
			m.check(now.SessionID == was.SessionID && now.PermissionMode == was.PermissionMode && now.Model == was.Model, "before %+v\nafter %+v", was, now)
			steps := m.noted(handle, "recover")
			m.check(len(steps) == 2 && strings.HasPrefix(steps[0], "level 3, resume: begun, for it is dead: lost: tmux") && strings.HasPrefix(steps[1], "level 3, resume: it helped: idle"), "%q", steps)
		}
		lines := m.ok("events")
		m.check(strings.Index(lines, "\trecover\tbeta") < strings.Index(lines, "\trecover\talpha"), "beta should have had the first turn:\n%s", lines)
		m.mustBe("ended", "stopped")
		m.ok("send", "alpha", "What number?", "--wait-reply")
		m.mustAnswer("alpha", "42")

		again, code := m.recover("--all")
		m.check(code == 0 && again["alpha"].steps()+again["beta"].steps() == "", "exit code %d, %+v", code, again)
	})
}

// A power cut leaves no exits and no servers. The script of the runbooks is a call of recover.
func TestRecoverAfterAReboot(t *testing.T) {
	m := standIn(t)
	before := map[string]session{}
	for _, handle := range []string{"alpha", "beta"} {
		before[handle] = m.remembers(handle)
		launcher := m.launcher(handle)
		m.kill(launcher, syscall.SIGSTOP)
		m.kill(before[handle].RecordedPID, syscall.SIGKILL)
		m.kill(launcher, syscall.SIGKILL)
		m.waitDead(before[handle].RecordedPID)
		m.waitDead(launcher)
	}
	m.ok("spawn", "ended")
	m.ok("stop", "ended")
	m.killServer()
	m.worker = rig.WorkerWith(t, "-X nbs-worker/internal/proc.testOnlyBootID=00000000-0000-4000-8000-000000000000")
	m.waitState("alpha", "lost: reboot")
	script := exec.Command(filepath.Join(rig.Root(t), "scripts/recover-all"), "--stagger", "0s")
	script.Dir, script.Env = m.dir, slices.Concat(m.env, []string{m.before(m.worker)})
	m.mustSay(m.run(script), "alpha\tdead\tresume helped", "beta\tdead\tresume helped")
	for handle, was := range before {
		m.mustBe(handle, "idle")
		m.mustRemember(handle, was, "--force")
	}
	m.mustBe("ended", "stopped")
}

// What works, what asks a person and what was ended are left alone, whatever the flags, and are reported.
func TestRecoverLeavesAloneWhatMustNotBeTouched(t *testing.T) {
	m := real(t)
	m.ok("spawn", "works", "--model", "sonnet", "--prompt", "[[delay 10m]] hello")
	m.ok("spawn", "asks", "--model", "sonnet", "--permission-mode", "default", "--prompt", `[[tool Bash {"command":"touch `+m.dir+`/ran","description":"w"}]]`)
	m.ok("spawn", "fell", "--model", "sonnet")
	asks := m.waitState("asks", "waiting")
	works := m.session("works")
	screen := m.screen("asks")
	m.kill(m.session("fell").RecordedPID, syscall.SIGKILL)
	m.waitState("fell", "crashed")

	all, code := m.recover("--all", "--yes", "--stagger", "0s")
	m.check(code == 8, "exit code %d, %+v", code, all)
	m.check(all["works"].steps() == "" && all["works"].After.Verdict == "healthy", "%+v", all["works"])
	m.check(all["asks"].steps() == "" && all["asks"].Left == "it needs a person" && all["asks"].After.Verdict == "waiting", "%+v", all["asks"])
	m.check(all["fell"].steps() == "3+" && all["fell"].After.Verdict == "idle", "%+v", all["fell"])
	named, code := m.recover("asks", "works", "--yes")
	m.check(code == 8 && named["asks"].steps()+named["works"].steps() == "", "exit code %d, %+v", code, named)
	m.mustBeLeftAlone("works", works)
	m.mustBeLeftAlone("asks", asks)
	m.check(m.screen("asks") == screen, "the dialog changed:\n%s", m.screen("asks"))
	m.mustBe("works", "busy")
}

// A process that executes nothing is pinged, which is a look, then ended and brought back.
func TestRecoverOfAZombie(t *testing.T) {
	m := real(t)
	alpha := m.remembers("alpha")
	m.kill(alpha.RecordedPID, syscall.SIGSTOP)
	m.waitFor("the signal takes", func() (bool, string) {
		all, code := m.triage("alpha")
		return all["alpha"].Verdict == "zombie" && code == 7, fmt.Sprintf("%+v", all)
	})
	all, code := m.recover("alpha")
	m.check(code == 0 && all["alpha"].steps() == "1- 3+", "exit code %d, %+v", code, all)
	after := m.session("alpha")
	m.check(after.SessionID == alpha.SessionID && dead(alpha.RecordedPID), "%+v", after)
}

// Where little context is left the conversation is compacted, and a turn that does not get on is interrupted.
func TestRecoverInterruptsAndCompacts(t *testing.T) {
	m := real(t)
	m.ok("spawn", "full", "--model", "sonnet", "--prompt", "[[usage 820000]] Remember 42.")
	m.ok("spawn", "hangs", "--model", "sonnet", "--prompt", "[[delay 10m]] hello")
	m.waitState("full", "idle")
	full, hangs := m.session("full"), m.session("hangs")
	m.waitFor("nothing of it grows", func() (bool, string) {
		all, _ := m.triage("hangs", "--patience", "3s")
		return all["hangs"].Verdict == "stuck", fmt.Sprintf("%+v", all)
	})
	all, code := m.recover("full", "hangs", "--patience", "3s")
	m.check(all["full"].steps() == "2+" && all["full"].After.Verdict == "idle", "%+v", all["full"])
	m.waitFor("it is found stuck at its turn too", func() (bool, string) { // on a busy machine a spinner may look like work
		if all["hangs"].steps() == "" {
			var again map[string]recovered
			again, code = m.recover("hangs", "--patience", "3s")
			all["hangs"] = again["hangs"]
		}
		return all["hangs"].steps() != "", fmt.Sprintf("%+v", all["hangs"])
	})
	m.check(code == 0 && all["hangs"].steps() == "1- 2+" && all["hangs"].After.Verdict == "idle", "exit code %d, %+v", code, all["hangs"])
	m.mustBeLeftAlone("full", full) // in its process, and its conversation
	m.mustBeLeftAlone("hangs", hangs)
	m.check(strings.Contains(m.ok("logs", "full"), "compacted"), "%s", m.ok("logs", "full"))
	m.check(m.session("full").SessionID == full.SessionID && m.session("hangs").SessionID == hangs.SessionID, "another conversation")
}

// A conversation that is full is given up only where that is permitted; its agent is told where it is.
func TestRecoverInANewConversation(t *testing.T) {
	m := real(t)
	m.remembers("alpha")
	m.ok("send", "alpha", "[[usage 950000]] Remember 77.", "--wait-reply")
	before := m.waitState("alpha", "idle")
	m.waitFor("its context is told", func() (bool, string) {
		all, _ := m.triage("alpha")
		return all["alpha"].Level == 4, fmt.Sprintf("%+v", all)
	})
	all, code := m.recover("alpha")
	m.check(code == 1 && all["alpha"].steps() == "" && strings.Contains(all["alpha"].Left, "which is not permitted"), "exit code %d, %+v", code, all)
	m.mustBeLeftAlone("alpha", before)

	all, code = m.recover("alpha", "--yes")
	m.check(code == 0 && all["alpha"].steps() == "4+", "exit code %d, %+v", code, all)
	after := m.session("alpha")
	m.check(after.SessionID != before.SessionID && after.Model == before.Model && after.PreviousSessions[0].SessionID == before.SessionID, "%+v", after)
	read := "nbs-worker logs alpha --session-id " + before.SessionID + " -n 40"
	asked, told := m.firstRequest(after.SessionID)
	rig.Equal(m, asked, "Remember 42.", "the first prompt")
	m.mustSay(told, "Notes for agent alpha", "carry no authority", "(floor)", read, "> OK, I will remember 77.")
	m.mustSay(m.ok(strings.Fields(read)[1:]...), "OK, I will remember 42.")
}

// A run that was killed when it had replaced a conversation is gone on with: the agent is told of the old
// one, in the new one, and gets no third.
func TestRecoverGoesOnWithANewConversation(t *testing.T) {
	m := standIn(t, "start-delay=3s")
	m.ok("spawn", "alpha", "--prompt", "Remember 42.")
	before := m.waitState("alpha", "idle")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.lose(before)
	missing, code := m.triage()
	m.check(code == 7 && missing["alpha"].Verdict == "missing" && missing["alpha"].Level == 4, "exit code %d, %+v", code, missing)

	run := m.begin("recover", "alpha", "--yes")
	m.waitFor("the conversation is replaced, and claude started", func() (bool, string) {
		pid := m.pidOf("alpha")
		return m.record("alpha")["session_id"] != before.SessionID && pid > 0 && pid != before.RecordedPID, m.recordText("alpha")
	})
	m.must(run.Process.Kill())
	run.end()
	m.killServer()
	m.waitDeath("alpha")
	second := m.session("alpha")

	all, code := m.recover("alpha") // which the first one was permitted
	m.check(code == 0 && all["alpha"].steps() == "4+", "exit code %d, %+v", code, all)
	after := m.session("alpha")
	m.check(after.SessionID == second.SessionID && len(after.PreviousSessions) == 1, "%+v", after)
	asked, told := m.firstRequest(after.SessionID)
	rig.Equal(m, asked, "Remember 42.", "the first prompt")
	m.mustSay(told, "You are agent alpha, in a new conversation. Your earlier one, "+before.SessionID+", was given up")
}

// Where nobody is logged in, the first start ends the run: the others would only take up what cannot answer.
func TestRecoverEndsWhereNobodyIsLoggedIn(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.ok("spawn", "beta", "--model", "sonnet")
	m.killServer()
	m.waitState("alpha", "lost: tmux")
	m.waitState("beta", "lost: tmux")
	rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Project}, KeyRejected: true})
	m.env = without(m.env, "ANTHROPIC_API_KEY")
	r := m.nbs("recover", "--all", "--stagger", "0s")
	m.mustRefuse(r, 8, "ended before all had their turn: nobody is logged in, after the start of alpha")
	m.mustSay(r.stdout, "it needs a person: nobody is logged in: claude is not logged in", "beta\tdead\t-\tdead\tnot begun: nobody is logged in")
	m.mustBe("beta", "lost: tmux")
}

// A run that is killed at any of its steps is run again: the end is the same, and nothing was started twice.
func TestRecoverKilledAtEachStepAndRunAgain(t *testing.T) {
	m := standIn(t)
	handles := []string{"alpha", "beta", "gamma"}
	before := map[string]session{}
	for _, handle := range handles {
		m.ok("spawn", handle, "--prompt", "Remember 42.")
		before[handle] = m.waitState(handle, "idle")
	}
	for kill := 1; kill <= 2*len(handles); kill++ {
		m.killServer()
		starts := map[string]int{}
		for _, handle := range handles {
			m.waitState(handle, "lost: tmux")
			starts[handle] = len(m.noted(handle, "start"))
		}
		noted := strings.Count(m.ok("events"), "\trecover\t")
		run := m.begin("recover", "--all", "--stagger", "0s")
		m.waitFor("the run notes a step", func() (bool, string) {
			events := m.ok("events")
			return strings.Count(events, "\trecover\t") >= noted+kill, events
		})
		_ = run.Process.Kill() // it may just have ended
		run.end()
		m.ok("recover", "--all", "--stagger", "0s")
		for _, handle := range handles {
			now := m.waitState(handle, "idle")
			m.check(now.SessionID == before[handle].SessionID, "killed at %d: %s is in %s", kill, handle, now.SessionID)
			m.check(len(claudesOn(now.SessionID)) == 1, "killed at %d: claudes on the conversation of %s: %v", kill, handle, claudesOn(now.SessionID))
			m.check(len(m.noted(handle, "start")) == starts[handle]+1, "killed at %d: %s was started %d times", kill, handle, len(m.noted(handle, "start"))-starts[handle])
		}
		if t.Failed() {
			t.Fatal(m.ok("events"))
		}
	}
	for _, handle := range handles {
		m.mustRemember(handle, before[handle], "--force")
	}
}

// An agent may repair colleagues as far as it may start them; what is more is for a person.
func TestRecoverByAnAgentThatMayLess(t *testing.T) {
	m := real(t)
	m.ok("spawn", "wide", "--model", "sonnet")
	m.ok("spawn", "alike", "--model", "sonnet", "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
	m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
	for _, handle := range []string{"wide", "alike"} {
		m.kill(m.session(handle).RecordedPID, syscall.SIGKILL)
		m.waitState(handle, "crashed")
	}
	said := m.asAgent("alpha", "nbs-worker recover --all --yes --stagger 0s", "nbs-worker triage wide alike")
	m.mustSay(said[0], "wide\tdead\tresume did not help", "it needs a person: agent alpha called this, and an agent with the permission mode bypassPermissions",
		"alike\tdead\tresume helped", "\ncode 8\n")
	m.mustSay(said[1], "wide\tdead\t3\t", "alike\tidle\t0\t", "\ncode 7\n")
	m.mustBe("wide", "crashed")
	m.mustBe("alike", "idle")
}

// An agent on which another command is at work is left to that, which is named; the others have their turn.
func TestRecoverMeetsALockAndGoesOn(t *testing.T) {
	m := standIn(t)
	for _, handle := range []string{"alpha", "beta"} {
		m.ok("spawn", handle)
		m.kill(m.session(handle).RecordedPID, syscall.SIGKILL)
		m.waitState(handle, "crashed")
	}
	lock, err := os.OpenFile(m.inNbs("locks", "alpha.verb"), os.O_RDWR, 0)
	m.must(err)
	defer lock.Close()
	m.must(unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	m.must(lock.Truncate(0))
	_, err = fmt.Fprintf(lock, `{"pid":%d,"verb":"dismiss","handle":"alpha","since":"2026-02-20T12:00:00Z"}`, os.Getpid())
	m.must(err)
	all, code := m.recover("--all", "--stagger", "0s")
	holder := fmt.Sprintf("another command is at work on this agent: dismiss alpha, pid %d", os.Getpid())
	m.check(code == 7 && strings.Contains(all["alpha"].Left, holder) && all["alpha"].After.Verdict == "dead", "exit code %d, %+v", code, all)
	m.check(all["beta"].steps() == "3+" && all["beta"].After.Verdict == "idle", "%+v", all)
	m.must(unix.Flock(int(lock.Fd()), unix.LOCK_UN))
	all, code = m.recover("--all")
	m.check(code == 0 && all["alpha"].steps() == "3+", "exit code %d, %+v", code, all)
}

// A conversation that Claude calls full is compacted, whatever its gauge says. It is not given up for what
// was said of it before.
func TestRecoverCompactsWhatClaudeCallsFull(t *testing.T) {
	m := real(t)
	m.remembers("alpha")
	for range 2 {
		m.ok("send", "alpha", "Remember 77.", "--wait-reply")
	}
	before := m.session("alpha")
	_ = m.nbs("send", "alpha", "[[error too-long]] hello", "--wait-reply")
	m.waitState("alpha", "failed")
	all, code := m.recover("alpha", "--yes")
	m.check(code == 0 && all["alpha"].After.Verdict == "idle", "exit code %d, %+v", code, all)
	m.check(len(all["alpha"].Steps) == 1 && all["alpha"].Steps[0].Level == 2, "%+v", all["alpha"])
	m.mustBeLeftAlone("alpha", before)
	m.check(m.session("alpha").SessionID == before.SessionID, "another conversation")
	m.mustSay(m.ok("logs", "alpha"), "compacted")
}

// What keeps an agent down stands in the report, also in a pipe; so does a name that has no turn.
func TestRecoverSaysWhatKeepsAnAgentDown(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.env = append(m.env, "NBS_CLAUDE=/nowhere/claude")
	r := m.nbs("recover", "--all", "--order", "beta,alpha")
	m.mustSay(r.stdout, "resume did not help, and nothing else would: ", "/nowhere/claude")
	m.check(r.code == 1, "exit code %d", r.code)
	m.mustSay(r.stderr, "--order: beta has no turn")
	m.check(!strings.Contains(r.stderr, "alpha has no turn"), "%s", r.stderr)
}
