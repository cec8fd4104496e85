package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The pages are executed, end to end, where they are meant to be used.

// shell runs commands as a person at a prompt would, in the project folder.
func (m *team) shell(commands string) string {
	m.Helper()
	cmd := exec.Command("sh", "-eu", "-c", commands)
	cmd.Dir, cmd.Env = m.world.Project, m.env
	r := m.finish(cmd)
	if r.code != 0 {
		m.Fatalf("%s\n%s", commands, r)
	}
	return r.stdout
}

// runbookRun is what runbook run --json tells, as far as tests ask.
type runbookRun struct {
	Result string
	Steps  []struct {
		Name, State string
		Commands    []struct {
			Command  []string
			ExitCode *int `json:"exit_code"`
			Stdout   string
			Stderr   string
		}
	}
}

// runbook runs a page for a program that reads JSON.
func (m *team) runbook(code int, args ...string) (run runbookRun) {
	m.Helper()
	r := m.nbs(append([]string{"runbook", "run", "--json"}, args...)...)
	if r.code != code {
		m.Fatalf("runbook run %q: %s", args, r)
	}
	if err := json.Unmarshal([]byte(r.stdout), &run); err != nil {
		m.Fatalf("%v: %s", err, r)
	}
	return run
}

// mustStillKnow has an agent that was brought back say what it was told before.
func (m *team) mustStillKnow(before session, handle string) {
	m.Helper()
	answer := m.ok("send", handle, "What number?", "--wait-reply")
	after := m.session(handle)
	m.check(after.SessionID == before.SessionID && strings.Contains(answer, "42"), "it answers %q\nbefore %+v\nafter %+v", answer, before, after)
}

func TestRunbookRestart(t *testing.T) {
	m := real(t)
	before := m.remembers("theologian")
	m.ok("spawn", "gatekeeper", "--model", "sonnet")
	m.ok("spawn", "scribe", "--model", "sonnet")
	m.ok("stop", "scribe")
	m.tmux("kill-server")
	m.waitState("theologian", "lost: tmux")
	m.waitState("gatekeeper", "lost: tmux")

	run := m.runbook(0, "restart")
	looked := run.Steps[0].Commands[0]
	m.check(*looked.ExitCode == 7 && strings.Contains(looked.Stdout, "theologian\tdead"), "%+v", looked)
	back := run.Steps[1].Commands[0].Stdout
	m.check(strings.Contains(back, "gatekeeper\tdead\t") && strings.Contains(back, "theologian\tdead\t") && run.Result == "done", "%+v", run)
	m.mustStillKnow(before, "theologian")
	scribe := m.session("scribe")
	m.check(!scribe.Running, "a stopped agent was started: %+v", scribe)
	journal := m.ok("events")
	m.check(strings.Contains(journal, "restart, step recover: at work") && strings.Contains(journal, "restart: came to its end"), "%s", journal)
}

func TestRunbookFixup(t *testing.T) {
	m := standIn(t)
	before := m.remembers("theologian")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitState("theologian", "crashed")
	fixup := []string{"fixup", "--set", "handle=theologian"}
	run := m.runbook(0, fixup...)
	m.check(*run.Steps[0].Commands[0].ExitCode == 7 && run.Result == "done", "%+v", run)
	m.mustStillKnow(before, "theologian")
	journal := m.ok("events", "theologian")
	m.check(strings.Contains(journal, "fixup, step repair: done"), "%s", journal)
	m.runbook(0, fixup...) // it is well, and nothing is done
	after := m.session("theologian")
	m.check(after.Running && after.SessionID == before.SessionID, "%+v", after)
	m.refused(2, "runbook fixup: step look failed", "runbook", "run", "fixup", "--set", "handle=nobody")
}

// The first agent of a folder in which there is no project yet; again it changes nothing.
func TestRunbookStart(t *testing.T) {
	m := standIn(t)
	const prompt = "Remember 42; and $HOME, `ls`, 'all' \"this\"."
	args := []string{"start", "--set", "handle=scribe", "--set", "model=sonnet", "--set", "prompt=" + prompt}
	m.runbook(0, args...)
	before := m.session("scribe")
	if r := m.record("scribe"); before.Model != "sonnet" || r["initial_prompt"] != prompt {
		t.Errorf("%+v, %q", before, r["initial_prompt"])
	}
	run := m.runbook(0, args...)
	m.check(*run.Steps[1].Commands[0].ExitCode == 5, "%+v", run)
	m.mustStillKnow(before, "scribe")
}

func TestRunbookShutdown(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("spawn", "beta")
	m.refused(8, "hint: if it is meant: nbs-worker runbook run shutdown --from look --yes", "runbook", "run", "shutdown")
	m.mustBeWell("alpha")
	c := m.console(m.command([]string{"runbook", "run", "shutdown"}))
	c.mustShow("ended now, with what they are doing. Is that meant? [y/N] ")
	c.types("y\n")
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, c.seen.String())
	}
	seen := c.seen.String()
	m.check(strings.Contains(seen, "step stop (2 of 3): Stop\r\n") && strings.Contains(seen, "\n$ nbs-worker stop --all\r\n"), "%s", seen)
	for _, handle := range []string{"alpha", "beta"} {
		m.waitState(handle, "stopped")
	}
	run := m.runbook(0, "shutdown", "--yes")
	m.check(run.Result == "done" && len(run.Steps) == 3, "again: %+v", run)
}

// The fresh one knows what the old one has written down, and the old conversation is not lost.
func TestRunbookHandover(t *testing.T) {
	m := real(t)
	before := m.remembers("theologian")
	handover := []string{
		"runbook", "run", "handover", "--set", "handle=theologian",
		"--set", `request=[[tool Bash {"command":"echo Remember 43 >HANDOVER.md","description":"write"}]]`,
		"--set", `briefing=[[tool Bash {"command":"cat HANDOVER.md","description":"read"}]]`,
	}
	m.refused(8, "Does a successor know enough", handover...)
	s := m.session("theologian")
	m.check(s.SessionID == before.SessionID && strings.TrimSpace(read(t, filepath.Join(m.world.Project, "HANDOVER.md"))) == "Remember 43", "%+v", s)
	m.refused(8, "Does a successor know enough", handover...) // it is not asked again
	out := m.ok(append(handover, "--from", "fresh")...)
	after := m.session("theologian")
	if after.SessionID == before.SessionID || len(after.PreviousSessions) != 1 || after.PreviousSessions[0].SessionID != before.SessionID {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	m.check(strings.Contains(out, "Tool said: Remember 43"), "%s", out)
}

func TestRunbookMove(t *testing.T) {
	m := standIn(t)
	alpha := m.remembers("alpha")
	m.refused(8, "nbs-worker runbook run move --from arrive", "runbook", "run", "move", "--yes")
	m.waitState("alpha", "stopped")
	m.moveProject()
	m.refused(8, "Is the project in its new place now", "runbook", "run", "move")
	m.runbook(0, "move", "--from", "arrive", "--yes")
	m.mustStillKnow(alpha, "alpha")
}

// Who answers at a terminal after the folder was moved beneath it goes on in the new place.
func TestRunbookMoveBeneathATerminal(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	before := m.session("alpha")
	c := m.console(m.command([]string{"runbook", "run", "move", "--yes"}))
	c.mustShow("is this a terminal there? [y/N] ")
	m.moveProject()
	c.types("y\n")
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, c.seen.String())
	}
	s := m.session("alpha")
	m.check(s.Running && s.SessionID == before.SessionID, "%+v", s)
}

// What one step does with the environment that an agent called it in is nothing to the next: all act on one project.
func TestRunbookThatAnAgentRunsInAnotherProject(t *testing.T) {
	m := standIn(t)
	other := m.otherProject()
	m.ok("spawn", "alpha")
	m.ok("spawn", "beta", "--root", other, "--cwd", m.world.Project)
	said := m.asAgent("alpha", "NBS_ROOT="+other+" nbs-worker runbook run fixup --set handle=beta")
	m.check(strings.HasSuffix(said[0], "code 0\n"), "%s", said[0])
}

// A run that is killed is known, and goes on where it was; meanwhile nobody begins it beside it.
func TestRunbookThatIsKilled(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.writePage("watch", "# Wait for the end\n\n```sh {step=wait}\nnbs-worker wait alpha --for gone\n```\n\n```sh {step=look expect=\"0 7\"}\nnbs-worker triage\n```\n")
	m.allowPage("watch")
	run := m.begin("runbook", "run", "watch")
	m.waitFor("the step is at work", func() (bool, string) {
		journal := m.ok("events")
		return strings.Contains(journal, "watch, step wait: at work"), journal
	})
	m.refused(5, "it is being run already: runbook watch, pid ", "runbook", "run", "watch")
	m.kill(run.Process.Pid, syscall.SIGKILL)
	run.end()
	m.refused(5, "the last run was interrupted in step wait", "runbook", "run", "watch")
	r := m.refused(5, "hint: go on: nbs-worker runbook run watch --from wait", "runbook", "run", "watch")
	m.check(strings.Contains(r.stderr, "or from the beginning: nbs-worker runbook run watch --from wait"), "%v", r)
	m.ok("stop", "alpha")
	m.ok("runbook", "run", "watch", "--from", "wait")
	m.ok("runbook", "run", "watch") // there is nothing left of the run that was killed
}

// Killed in a step, and each time gone on with as it says, the page comes to the same end.
func TestRunbookKilledInEachStep(t *testing.T) {
	m := standIn(t)
	before := map[string]session{}
	for _, handle := range []string{"alpha", "beta"} {
		m.ok("spawn", handle)
		before[handle] = m.session(handle)
		m.kill(before[handle].RecordedPID, syscall.SIGKILL)
		m.waitState(handle, "crashed")
	}
	args := []string{"runbook", "run", "restart"}
	for _, step := range []string{"look", "recover"} {
		run := m.begin(args...)
		m.waitFor("step "+step+" is at work", func() (bool, string) {
			journal := m.ok("events")
			return strings.Contains(journal, "restart, step "+step+": at work"), journal
		})
		m.kill(run.Process.Pid, syscall.SIGKILL)
		run.end()
		r := m.nbs("runbook", "run", "restart")
		goOn := regexp.MustCompile("hint: go on: nbs-worker (.*)").FindStringSubmatch(r.stderr)
		if r.code != 5 || goOn == nil {
			t.Fatalf("killed at %s: %s", step, r)
		}
		args = strings.Fields(goOn[1])
	}
	m.ok(args...)
	for handle, was := range before {
		s := m.session(handle)
		m.check(s.Running && s.SessionID == was.SessionID && len(s.PreviousSessions) == 0, "before %+v\nafter %+v", was, s)
	}
	m.ok("runbook", "run", "restart")
}

// inAnyOrder are the lines of an output, sorted: what is done side by side is printed as it is
// done.
func inAnyOrder(lines string) string {
	words := strings.Fields(lines)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// One command brings back all that should run and do not, and tells of what cannot be read.
func TestResumeDown(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("spawn", "beta")
	m.ok("spawn", "ended")
	m.ok("stop", "ended")
	out := m.ok("resume", "--down")
	m.check(out == "", "nothing was down, and it printed %q", out)
	for _, handle := range []string{"alpha", "beta"} {
		m.kill(m.session(handle).RecordedPID, syscall.SIGKILL)
		m.waitState(handle, "crashed")
	}
	m.writeRecord("gamma", "{")
	r := m.nbs("resume", "--down")
	m.check(r.code == 7 && inAnyOrder(r.stdout) == "alpha beta" && strings.Contains(r.stderr, "gamma"), "%v", r)
	m.shell("rm .nbs/sessions/gamma.json")
	m.ok("stop", "--all")
	out = m.ok("resume", "--down", "--json")
	m.check(out == "[]\n", "what was stopped is not down: %s", out)
	out = m.ok("resume", "--all")
	m.check(inAnyOrder(out) == "alpha beta ended", "all: %q", out)
}
