package recover

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

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
	r := m.NBS(append([]string{"runbook", "run", "--json"}, args...)...)
	if r.Code != code {
		m.Fatalf("runbook run %q: %s", args, r)
	}
	if err := json.Unmarshal([]byte(r.Stdout), &run); err != nil {
		m.Fatalf("%v: %s", err, r)
	}
	return run
}

// mustStillKnow has an agent that was brought back say what it was told before.
func (m *team) mustStillKnow(before e2e.Session, handle string) {
	m.Helper()
	answer := m.OK("send", handle, "What number?", "--wait-reply")
	after := m.Session(handle)
	m.Check(after.SessionID == before.SessionID && strings.Contains(answer, "42"), "it answers %q\nbefore %+v\nafter %+v", answer, before, after)
}

func TestRunbookRestart(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("theologian")
	m.OK("spawn", "gatekeeper", "--model", "sonnet")
	m.OK("spawn", "scribe", "--model", "sonnet")
	m.OK("stop", "scribe")
	m.Tmux("kill-server")
	m.WaitState("theologian", "lost: tmux")
	m.WaitState("gatekeeper", "lost: tmux")

	run := m.runbook(0, "restart")
	looked := run.Steps[0].Commands[0]
	m.Check(*looked.ExitCode == 7 && strings.Contains(looked.Stdout, "theologian\tdead"), "%+v", looked)
	back := run.Steps[1].Commands[0].Stdout
	m.Check(strings.Contains(back, "gatekeeper\tdead\t") && strings.Contains(back, "theologian\tdead\t") && run.Result == "done", "%+v", run)
	m.mustStillKnow(before, "theologian")
	scribe := m.Session("scribe")
	m.Check(!scribe.Running, "a stopped agent was started: %+v", scribe)
	journal := m.OK("events")
	m.Check(strings.Contains(journal, "restart, step recover: at work") && strings.Contains(journal, "restart: came to its end"), "%s", journal)
}

func TestRunbookFixup(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("theologian")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitState("theologian", "crashed")
	fixup := []string{"fixup", "--set", "handle=theologian"}
	run := m.runbook(0, fixup...)
	m.Check(*run.Steps[0].Commands[0].ExitCode == 7 && run.Result == "done", "%+v", run)
	m.mustStillKnow(before, "theologian")
	journal := m.OK("events", "theologian")
	m.Check(strings.Contains(journal, "fixup, step repair: done"), "%s", journal)
	m.runbook(0, fixup...) // it is well, and nothing is done
	after := m.Session("theologian")
	m.Check(after.Running && after.SessionID == before.SessionID, "%+v", after)
}

// The first agent of a folder in which there is no project yet; again it changes nothing.
func TestRunbookStart(t *testing.T) {
	m := standIn(t)
	const prompt = "Remember 42; and $HOME, `ls`, 'all' \"this\"."
	args := []string{"start", "--set", "handle=scribe", "--set", "model=sonnet", "--set", "prompt=" + prompt}
	m.runbook(0, args...)
	before := m.Session("scribe")
	if r := m.Record("scribe"); before.Model != "sonnet" || r["initial_prompt"] != prompt {
		t.Errorf("%+v, %q", before, r["initial_prompt"])
	}
	run := m.runbook(0, args...)
	m.Check(*run.Steps[1].Commands[0].ExitCode == 5, "%+v", run)
	m.mustStillKnow(before, "scribe")
}

func TestRunbookShutdown(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("spawn", "beta")
	m.Refused(8, "hint: if it is meant: nbs-worker runbook run shutdown --from look --yes", "runbook", "run", "shutdown")
	m.MustBeWell("alpha")
	c := m.Console(m.Command([]string{"runbook", "run", "shutdown"}))
	c.MustShow("ended now, with what they are doing. Is that meant? [y/N] ")
	c.Types("y\n")
	if err := c.Cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, c.Seen.String())
	}
	seen := c.Seen.String()
	m.Check(strings.Contains(seen, "step stop (2 of 3): Stop\r\n") && strings.Contains(seen, "\n$ nbs-worker stop --all\r\n"), "%s", seen)
	for _, handle := range []string{"alpha", "beta"} {
		m.WaitState(handle, "stopped")
	}
	run := m.runbook(0, "shutdown", "--yes")
	m.Check(run.Result == "done" && len(run.Steps) == 3, "again: %+v", run)
}

// The fresh one knows what the old one has written down, and the old conversation is not lost.
func TestRunbookHandover(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("theologian")
	handover := []string{
		"runbook", "run", "handover", "--set", "handle=theologian",
		"--set", `request=[[tool Bash {"command":"echo Remember 43 >HANDOVER.md","description":"write"}]]`,
		"--set", `briefing=[[tool Bash {"command":"cat HANDOVER.md","description":"read"}]]`,
	}
	m.Refused(8, "Does a successor know enough", handover...)
	s := m.Session("theologian")
	m.Check(s.SessionID == before.SessionID && strings.TrimSpace(e2e.Read(t, filepath.Join(m.World.Project, "HANDOVER.md"))) == "Remember 43", "%+v", s)
	m.Refused(8, "Does a successor know enough", handover...) // it is not asked again
	out := m.OK(append(handover, "--from", "fresh")...)
	after := m.Session("theologian")
	if after.SessionID == before.SessionID || len(after.PreviousSessions) != 1 || after.PreviousSessions[0].SessionID != before.SessionID {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	m.Check(strings.Contains(out, "Tool said: Remember 43"), "%s", out)
}

func TestRunbookMove(t *testing.T) {
	m := standIn(t)
	alpha := m.Remembers("alpha")
	m.Refused(8, "nbs-worker runbook run move --from arrive", "runbook", "run", "move", "--yes")
	m.WaitState("alpha", "stopped")
	m.moveProject()
	m.Refused(8, "Is the project in its new place now", "runbook", "run", "move")
	m.runbook(0, "move", "--from", "arrive", "--yes")
	m.mustStillKnow(alpha, "alpha")
}

// Who answers at a terminal after the folder was moved beneath it continues in the new place.
func TestRunbookMoveBeneathATerminal(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	before := m.Session("alpha")
	c := m.Console(m.Command([]string{"runbook", "run", "move", "--yes"}))
	c.MustShow("is this a terminal there? [y/N] ")
	m.moveProject()
	c.Types("y\n")
	if err := c.Cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, c.Seen.String())
	}
	s := m.Session("alpha")
	m.Check(s.Running && s.SessionID == before.SessionID, "%+v", s)
}

// What one step does with the environment that an agent called it in is nothing to the next: all act on one project.
func TestRunbookThatAnAgentRunsInAnotherProject(t *testing.T) {
	m := standIn(t)
	other := m.OtherProject()
	m.OK("spawn", "alpha")
	m.OK("spawn", "beta", "--root", other, "--cwd", m.World.Project)
	said := m.AsAgent("alpha", "NBS_ROOT="+other+" nbs-worker runbook run fixup --set handle=beta")
	m.MustSay(said[0], "beta\tidle\t", "logs beta: agent alpha called this, and it belongs to another project", "code 8\n")
}

// A run that is killed is known, and goes on where it was; meanwhile nobody begins it beside it.
func TestRunbookThatIsKilled(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.WritePage("watch", "# Wait for the end\n\n```sh {step=wait}\nnbs-worker wait alpha --for gone\n```\n\n```sh {step=look expect=\"0 7\"}\nnbs-worker triage\n```\n")
	m.AllowPage("watch")
	run := m.Begin("runbook", "run", "watch")
	m.WaitFor("the step is at work", func() (bool, string) {
		journal := m.Journal()
		return strings.Contains(journal, "watch, step wait: at work"), journal
	})
	m.Refused(5, "it is already running: runbook watch, pid ", "runbook", "run", "watch")
	m.Kill(run.Process.Pid, syscall.SIGKILL)
	run.End()
	m.Refused(5, "the last run was interrupted in step wait", "runbook", "run", "watch")
	r := m.Refused(5, "hint: go on: nbs-worker runbook run watch --from wait", "runbook", "run", "watch")
	m.Check(strings.Contains(r.Stderr, "or from the beginning: nbs-worker runbook run watch --from wait"), "%v", r)
	m.OK("stop", "alpha")
	m.OK("runbook", "run", "watch", "--from", "wait")
	m.OK("runbook", "run", "watch") // there is nothing left of the run that was killed
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
	m.OK("spawn", "alpha")
	m.OK("spawn", "beta")
	m.OK("spawn", "ended")
	m.OK("stop", "ended")
	out := m.OK("resume", "--down")
	m.Check(out == "", "nothing was down, and it printed %q", out)
	for _, handle := range []string{"alpha", "beta"} {
		m.Kill(m.Session(handle).RecordedPID, syscall.SIGKILL)
		m.WaitState(handle, "crashed")
	}
	m.WriteRecord("gamma", "{")
	r := m.NBS("resume", "--down")
	m.Check(r.Code == 7 && inAnyOrder(r.Stdout) == "alpha beta" && strings.Contains(r.Stderr, "gamma"), "%v", r)
	m.Shell("rm .nbs/sessions/gamma.json")
	m.OK("stop", "--all")
	out = m.OK("resume", "--down", "--json")
	m.Check(out == "[]\n", "what was stopped is not down: %s", out)
	out = m.OK("resume", "--all")
	m.Check(inAnyOrder(out) == "alpha beta ended", "all: %q", out)
}
