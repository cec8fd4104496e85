package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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
	if after := m.session(handle); after.SessionID != before.SessionID || !strings.Contains(answer, "42") {
		m.Errorf("it answers %q\nbefore %+v\nafter %+v", answer, before, after)
	}
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
	if looked := run.Steps[0].Commands[0]; *looked.ExitCode != 7 || !strings.Contains(looked.Stdout, "theologian\tdead") {
		t.Errorf("%+v", looked)
	}
	if back := run.Steps[1].Commands[0].Stdout; inAnyOrder(back) != "gatekeeper theologian" || run.Result != "done" {
		t.Errorf("%+v", run)
	}
	m.mustStillKnow(before, "theologian")
	if scribe := m.session("scribe"); scribe.Running {
		t.Errorf("a stopped agent was started: %+v", scribe)
	}
	if journal := m.ok("events"); !strings.Contains(journal, "restart, step resume: at work") || !strings.Contains(journal, "restart: came to its end") {
		t.Error(journal)
	}
}

// It stops for a person's judgement, and is told to go on; the conversation is kept.
func TestRunbookFixup(t *testing.T) {
	m := standIn(t)
	before := m.remembers("theologian")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	m.waitState("theologian", "crashed")
	fixup := []string{"runbook", "run", "fixup", "--set", "handle=theologian"}
	for range 2 {
		m.refused(8, "nbs-worker runbook run fixup --set handle=theologian --from resume", fixup...)
	}
	if s := m.session("theologian"); s.Running {
		t.Errorf("it was resumed without a judgement: %+v", s)
	}
	m.ok(append(fixup, "--from", "resume")...)
	m.mustStillKnow(before, "theologian")
	if journal := m.ok("events", "theologian"); !strings.Contains(journal, "fixup, step look: asks") {
		t.Error(journal)
	}

	c := m.console(m.command(fixup)) // it is well, and a person at a terminal says so
	c.mustShow("resumed in its conversation? [y/N] ")
	c.types("n\n")
	if err := c.cmd.Wait(); c.cmd.ProcessState.ExitCode() != 8 {
		t.Errorf("%v\n%s", err, c.seen.String())
	}
	if s := m.session("theologian"); !s.Running || s.SessionID != before.SessionID {
		t.Errorf("%+v", s)
	}
}

// writePage puts a page into the project.
func (m *team) writePage(name, text string) {
	m.Helper()
	folder := filepath.Join(m.world.Project, "runbooks")
	m.must(os.MkdirAll(folder, 0o700))
	m.must(os.WriteFile(filepath.Join(folder, name+".md"), []byte(text), 0o600))
}

// allowPage has a person look at a page of the project, and say yes.
func (m *team) allowPage(name string) *console {
	m.Helper()
	c := m.console(m.command([]string{"allow", "--runbook", name}))
	c.mustShow("allow the runbook " + name + " to run so? [y/N] ")
	c.types("y\n")
	if err := c.cmd.Wait(); err != nil {
		m.Fatalf("%v\n%s", err, c.seen.String())
	}
	return c
}

// A page of the project runs as a person has allowed it, and not otherwise.
func TestRunbookOfTheProject(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	page := "# Round up\n\n```sh {step=end}\nnbs-worker stop --all\n```\n"
	m.writePage("round-up", page)
	m.writePage("restart", page)
	m.refused(8, "hint: look at what it would run, and allow it on a terminal: nbs-worker allow --runbook round-up", "runbook", "run", "round-up")
	m.mustBeWell("alpha")
	if r := m.nbs("runbook", "run", "restart"); r.code != 0 || !strings.Contains(r.stderr, "this is the page of the program") {
		t.Error(r)
	}
	m.mustBeWell("alpha")

	if c := m.allowPage("round-up"); !strings.Contains(c.seen.String(), "end           nbs-worker stop --all") {
		t.Error(c.seen.String())
	}
	m.mustBeInTheJournal("allow", "", "")
	m.writePage("round-up", strings.Replace(page, "Round", "Wind", 1))
	m.refused(8, "is not as you have allowed it", "runbook", "run", "round-up")
	m.mustBeWell("alpha")
	m.writePage("round-up", page)
	m.ok("runbook", "run", "round-up")
	m.waitState("alpha", "stopped")
}

func (m *team) mustBeWell(handle string) {
	m.Helper()
	if s := m.session(handle); !s.Running {
		m.Errorf("%+v", s)
	}
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
	if !strings.Contains(r.stderr, "or from the beginning: nbs-worker runbook run watch --from wait") {
		t.Error(r)
	}
	m.ok("stop", "alpha")
	m.ok("runbook", "run", "watch", "--from", "wait")
	m.ok("runbook", "run", "watch") // there is nothing left of the run that was killed
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
	if out := m.ok("resume", "--down"); out != "" {
		t.Errorf("nothing was down, and it printed %q", out)
	}
	for _, handle := range []string{"alpha", "beta"} {
		m.kill(m.session(handle).RecordedPID, syscall.SIGKILL)
		m.waitState(handle, "crashed")
	}
	m.writeRecord("gamma", "{")
	r := m.nbs("resume", "--down")
	if r.code != 7 || inAnyOrder(r.stdout) != "alpha beta" || !strings.Contains(r.stderr, "gamma") {
		t.Error(r)
	}
	m.shell("rm .nbs/sessions/gamma.json")
	m.ok("stop", "--all")
	if out := m.ok("resume", "--down", "--json"); out != "[]\n" {
		t.Errorf("what was stopped is not down: %s", out)
	}
	if out := m.ok("resume", "--all"); inAnyOrder(out) != "alpha beta ended" {
		t.Errorf("all: %q", out)
	}
}
