package send

import (
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// needs waits until an agent needs a person for this reason; "": until it needs no person.
func (m *team) needs(handle, reason string) e2e.Session {
	m.Helper()
	return m.WaitSession(handle, "needs "+reason, func(s e2e.Session) bool {
		return s.Needs == nil && reason == "" || s.Needs != nil && s.Needs.Reason == reason
	})
}

// A person's look ends what it has seen, until the next turn ends. What an agent does is no look.
func TestWhatCountsAsALook(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", "Remember 42.")
	m.OK("spawn", "beta", "--model", "sonnet")
	since := m.needs("alpha", "done").Needs.Since
	for i, said := range m.AsAgent("beta", "nbs-worker screen alpha", "nbs-worker logs alpha", "sh -c 'nbs-worker logs alpha -n 1'") {
		m.Check(strings.Contains(said, "42") && strings.HasSuffix(said, "code 0\n"), "command %d: %s", i, said)
	}
	again := m.needs("alpha", "done")
	m.Check(again.Needs.Since == since, "since %s; before the looks of an agent since %s", again.Needs.Since, since)

	for _, look := range []func(){
		func() { m.OK("screen", "alpha") },
		func() { m.OK("logs", "alpha", "-n", "1") },
		func() { m.OK("send", "alpha", "What number?", "--wait-reply") },
		m.goesThere,
	} {
		look()
		m.needs("alpha", "")
		m.OK("send", "alpha", "What number?")
		next := m.needs("alpha", "done").Needs.Since
		m.Check(next > since, "since %s; before the turn since %s", next, since)
		since = next
	}
	m.OK("send", "alpha", "[[delay 10m]] hello")
	m.needs("alpha", "")
}

// goesThere attaches a terminal to alpha, and leaves it.
func (m *team) goesThere() {
	m.Helper()
	c := m.Console(m.Command([]string{"attach", "alpha"}))
	c.MustShow("● 42")
	c.Types("\x02d")
	m.Must(c.Cmd.Wait())
	<-c.Done
}

func TestWaitForAnAgentThatNeedsAPerson(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	m.WaitState("alpha", "idle")
	waiting := m.waits("--all", "--any", "--for", "needs")
	m.TypeLine(m.Session("alpha"), `[[tool Bash {"command":"touch made","description":"make it"}]]`)
	m.mustEnd(waiting, 0, "alpha\twaiting\tpermission prompt\tBash command · touch made · Do you want to proceed? [Yes / No]\twaits\n", "")
	m.asks(m.requests(), "touch made")
	m.Refused(8, "hint: answer it; to see how: nbs-worker requests alpha", "send", "alpha", "hello", "--timeout", "1s")
	m.answer("Enter")
	m.WaitState("alpha", "idle")
	m.MustPrint("alpha\tidle\t-\t-\tdone\n", "wait", "alpha", "--for", "needs")
	m.OK("screen", "alpha")
	m.Refused(3, "alpha is idle", "wait", "alpha", "--for", "needs", "--timeout", "100ms")
	m.Kill(m.Session("alpha").RecordedPID, 9)
	m.MustPrint("alpha\tcrashed\tsignal: killed\t-\tdown\n", "wait", "alpha", "--for", "needs")
}
