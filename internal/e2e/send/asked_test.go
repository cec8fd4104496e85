package send

import (
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// What an agent asks stands wherever it is said that it waits: tool, command, question and choices.
func TestWhatIsAskedIsSaid(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	m.Send(0, "accepted", "alpha", `[[tool Bash {"command":"touch made-here","description":"make it"}]]`)
	asked := m.OK("wait", "alpha", "--for", "waiting", "--timeout", e2e.Patience())
	m.MustSay(asked, "alpha\twaiting\tpermission prompt\tBash command · ", "touch made-here", "Do you want to proceed? [Yes / ", " / No]\n")
	m.mustAsk("permission", "touch made-here", "\nDo you want to proceed?", "Yes,No")
	m.answer("Enter")
	m.WaitState("alpha", "idle")

	m.Send(0, "accepted", "alpha", `[[tool AskUserQuestion `+e2e.Question+`]]`)
	m.WaitState("alpha", "waiting")
	m.mustAsk("question", "So?", "So?", "L,R")
}

// mustAsk checks what session, list, triage and the JSON of all say that alpha asks.
func (m *team) mustAsk(dialog, words, end, choices string) {
	m.Helper()
	type question struct {
		Dialog, Text string
		Choices      []string
	}
	for _, verb := range [][]string{{"session", "alpha"}, {"list"}, {"wait", "alpha", "--for", "waiting"}} {
		var said []struct{ Question question }
		m.Decode(&said, append(verb, "--json")...)
		q := said[0].Question
		has := strings.Join(q.Choices, ",") + ","
		for choice := range strings.SplitSeq(choices, ",") {
			m.Check(strings.Contains(has, choice+","), "no %s in %q", choice, q.Choices)
		}
		m.Check(q.Dialog == dialog && strings.Contains(q.Text, words) && strings.HasSuffix(q.Text, end), "%+v", q)
	}
	m.MustSay(m.OK("session", "alpha"), "\nAsks:            ", words, "\nChoices:         ")
	triage := m.NBS("triage", "alpha")
	m.Check(triage.Code == 8, "%v", triage)
	m.MustSay(triage.Stdout, words, "nbs-worker attach alpha")
}
