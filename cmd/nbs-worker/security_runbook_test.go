package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
	r := m.nbs("runbook", "run", "restart")
	m.check(r.code == 0 && strings.Contains(r.stderr, "this is the page of the program"), "%v", r)
	m.mustBeWell("alpha")

	c := m.allowPage("round-up")
	m.check(strings.Contains(c.seen.String(), "end           nbs-worker stop --all"), "%s", c.seen.String())
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
	s := m.session(handle)
	m.check(s.Running, "%+v", s)
}

// An agent runs a page with its own powers, and allows none.
func TestSecurityRunbookOfAnAgent(t *testing.T) {
	m := real(t)
	m.ok("spawn", "boss", "--model", "sonnet")
	m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
	page := "# End the boss\n\n```sh {step=end}\nnbs-worker stop boss\n```\n"
	m.writePage("end", page)
	m.allowPage("end")
	m.writePage("other", page)
	onATerminal := `python3 -c 'import pty, sys; sys.exit(pty.spawn(["nbs-worker", "allow", "--runbook", "other"]) >> 8)'`
	said := m.asAgent("alpha", "nbs-worker runbook run end", "nbs-worker runbook run shutdown --yes", onATerminal)
	for i, want := range [][2]string{
		{"agent alpha called this", "code 8\n"}, {"agent alpha called this", "code 1\n"}, {"to allow is for a person, and agent alpha called this", "code 8\n"},
	} {
		if !strings.Contains(said[i], want[0]) || !strings.HasSuffix(said[i], want[1]) {
			t.Errorf("%d: %s; want %s", i, said[i], want)
		}
	}
	m.mustBeWell("boss")
	m.refused(8, "is not allowed", "runbook", "run", "other")
}
