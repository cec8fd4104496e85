package send

import (
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// interruption is what interrupt --json tells.
type interruption struct {
	Outcome, Prompt string
	Left            bool
}

func (m *team) interrupt(want string) interruption {
	m.Helper()
	var got interruption
	if err := e2e.One(m.OK("interrupt", "alpha", "--json"), &got); err != nil || got.Outcome != want || got.Left {
		m.Errorf("interrupt: %v, %+v; want %s", err, got, want)
	}
	return got
}

func TestInterrupt(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.interrupt("idle")
	m.Send(0, "accepted", "alpha", "[[slow 1s]] one two three four five six seven")
	m.WaitFor("an answer that streams", func() (bool, string) {
		screen := m.pane("=" + m.Record("alpha")["tmux_session"].(string) + ":")
		return strings.Contains(screen, "\n●"), screen
	})
	m.interrupt("interrupted")
	m.interrupt("idle")
	m.mustGiveBack("120", "40")
	m.mustGiveBack("60", "8")
	m.Check(strings.Count(m.OK("events", "alpha"), "nothing was answered yet to: [[delay 1m]] two") == 2, "the journal does not keep the prompts")
	m.Send(0, "accepted", "alpha", "after it")
	r := m.NBS("logs", "alpha")
	m.Check(!strings.Contains(r.Stderr, "two claudes"), "one claude was there: %s", r)
	pane := "=" + m.Session("alpha").TmuxSession + ":"
	m.Tmux("resize-window", "-t", pane, "-x", "120", "-y", "40")
	// Nobody types where a person looks back.
	m.Send(0, "accepted", "alpha", `[[tool Bash {"command":"touch RUNS; tail -f /dev/null","description":"make it"}]]`)
	m.WaitFor("the tool runs", func() (bool, string) { return e2e.Exists(m.Dir + "/RUNS"), "" })
	m.Tmux("copy-mode", "-t", pane)
	m.Refused(8, "copy mode", "interrupt", "alpha")
	m.Tmux("send-keys", "-t", pane, "-X", "cancel")
	m.Send(0, "held", "alpha", "kept", "--queue")
	m.WaitFor("the launcher's deliverer", func() (bool, string) { return len(m.Deliverers()) > 0, "none" })
	m.KillDeliverers()         // it would give up in a minute
	m.interrupt("interrupted") // of which no hook has the launcher run another one
	if all := m.Outbox(); len(all) != 0 {
		m.Errorf("interrupted, and %+v", all)
	}
	m.OK("stop", "alpha")
	m.Refused(5, "does not run", "interrupt", "alpha")
	m.Refused(2, "no such agent", "interrupt", "beta")
}

// mustGiveBack interrupts a turn to which nothing was answered: its prompt is given back, and does not stay in the box. On a
// low screen, which does not show it, no draft of a person's is made of it: messages go on.
func (m *team) mustGiveBack(width, height string) {
	m.Helper()
	pane := "=" + m.Session("alpha").TmuxSession + ":"
	prompt := "[[delay 1m]] two\nlines of " + height
	m.Send(0, "accepted", "alpha", prompt)
	m.WaitAsked(prompt)
	m.Tmux("resize-window", "-t", pane, "-x", width, "-y", height)
	m.WaitFor("the box is shown, and on a low screen no prompt above it", func() (bool, string) {
		shown := m.pane(pane)
		return strings.Contains(shown, "\n"+strings.Repeat("─", 60)) && strings.Contains(shown, "─\n❯ \n") && (height != "8" || !strings.Contains(shown, "two")), shown
	})
	got := m.interrupt("interrupted")
	m.Check(got.Prompt == prompt, "given back: %+v", got)
	m.waitBox("alpha", "")
}
