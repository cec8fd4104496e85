package security

import (
	"strings"
	"testing"
)

// A page of the project runs as a person has allowed it, and not otherwise.
func TestRunbookOfTheProject(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	page := "# Round up\n\n```sh {step=end}\nnbs-worker stop --all\n```\n"
	m.WritePage("round-up", page)
	m.WritePage("restart", page)
	m.Refused(8, "hint: look at what it would run, and allow it on a terminal: nbs-worker allow --runbook round-up", "runbook", "run", "round-up")
	m.MustBeWell("alpha")
	r := m.NBS("runbook", "run", "restart")
	m.Check(r.Code == 0 && strings.Contains(r.Stderr, "this is the page of the program"), "%v", r)
	m.MustBeWell("alpha")

	c := m.AllowPage("round-up")
	m.Check(strings.Contains(c.Seen.String(), "end           nbs-worker stop --all"), "%s", c.Seen.String())
	m.MustBeInTheJournal("allow", "", "")
	m.WritePage("round-up", strings.Replace(page, "Round", "Wind", 1))
	m.Refused(8, "is not as you have allowed it", "runbook", "run", "round-up")
	m.MustBeWell("alpha")
	m.WritePage("round-up", page)
	m.OK("runbook", "run", "round-up")
	m.WaitState("alpha", "stopped")
}

// An agent runs a page with its own powers, and allows none.
func TestSecurityRunbookOfAnAgent(t *testing.T) {
	m := real(t)
	m.OK("spawn", "boss", "--model", "sonnet")
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
	page := "# End the boss\n\n```sh {step=end}\nnbs-worker stop boss\n```\n"
	m.WritePage("end", page)
	m.AllowPage("end")
	m.WritePage("other", page)
	onATerminal := `python3 -c 'import pty, sys; sys.exit(pty.spawn(["nbs-worker", "allow", "--runbook", "other"]) >> 8)'`
	said := m.AsAgent("alpha", "nbs-worker runbook run end", "nbs-worker runbook run shutdown --yes", onATerminal)
	for i, want := range [][2]string{
		{"agent alpha called this", "code 8\n"}, {"agent alpha called this", "code 1\n"}, {"to allow is for a person, and agent alpha called this", "code 8\n"},
	} {
		if !strings.Contains(said[i], want[0]) || !strings.HasSuffix(said[i], want[1]) {
			t.Errorf("%d: %s; want %s", i, said[i], want)
		}
	}
	m.MustBeWell("boss")
	m.Refused(8, "is not allowed", "runbook", "run", "other")
}
