package agents

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

func rowOf(r agent.Record) inspect.Row {
	return inspect.Row{Handle: r.Handle, Sight: observe.Sight{Record: r, Status: agent.Status{State: agent.Dead, Cause: agent.Crashed}}}
}

// What needs a person comes first, what was ended last.
func TestListBeginsWithWhatIsUrgent(t *testing.T) {
	t.Parallel()
	of := func(handle agent.Handle, desired agent.Desired, status agent.Status) inspect.Row {
		row := rowOf(uitest.Record(handle))
		row.Record.Desired, row.Status, row.Record.SessionID = desired, status, agent.NewSessionID()
		return row
	}
	out := printed(t, ui.Streams{OutTTY: true},
		of("a", agent.DesiredStopped, agent.Status{State: agent.Dead, Cause: agent.Stopped}),
		of("b", agent.DesiredRunning, agent.Status{State: agent.Idle, SamePID: true}),
		of("c", agent.DesiredRunning, agent.Status{State: agent.Busy, SamePID: true}),
		of("d", agent.DesiredRunning, agent.Status{State: agent.Waiting, Detail: "permission prompt", SamePID: true}),
		of("e", agent.DesiredRunning, agent.Status{State: agent.Dead, Cause: agent.Crashed}))
	var order strings.Builder
	for line := range strings.Lines(out) {
		order.WriteString(line[:1])
	}
	rig.Check(t, order.String() == "Hdecba" && strings.Contains(out, "waiting: permission prompt"), "it is\n%s", out)
}

// A row fits the terminal; DESIRED is there only when somebody is not as they should be.
func TestListFitsTheTerminal(t *testing.T) {
	t.Parallel()
	const width = 60
	row := rowOf(uitest.Record("an-agent-with-a-name-that-is-long"))
	row.Status = agent.Status{State: agent.Waiting, Detail: "a question that somebody has asked at some length", SamePID: true}
	out := printed(t, ui.Streams{OutTTY: true, Width: width}, row)
	for line := range strings.Lines(out) {
		n := len([]rune(strings.TrimRight(line, "\n")))
		rig.Check(t, n <= width, "a line has %d columns of %d:\n%s", n, width, out)
	}
	rig.Check(t, !strings.Contains(out, "DESIRED") && strings.Contains(out, "…"), "it is\n%s", out)
}

// Two agents in one conversation fork it.
func TestListMarksASharedConversation(t *testing.T) {
	t.Parallel()
	alpha, beta := rowOf(uitest.Record("alpha")), rowOf(uitest.Record("beta"))
	out := printed(t, ui.Streams{OutTTY: true}, alpha, beta)
	rig.Check(t, strings.Contains(out, "in the conversation of beta") && strings.Contains(out, "in the conversation of alpha"), "it is\n%s", out)
}

// list --watch prints an agent whose turn has ended once more, however short it was; and no agent that only waits on.
func TestWhatIsAChangeOfAnAgent(t *testing.T) {
	t.Parallel()
	at := func(reason attention.Reason, since time.Time) string {
		text, err := ageless(wire.Agent{Needs: &wire.Need{Reason: reason, Since: &since}})
		rig.Must(t, err)
		return text
	}
	now := time.Now()
	for _, reason := range attention.Reasons {
		same := at(reason, now) == at(reason, now.Add(time.Millisecond))
		rig.Equal(t, same, reason != attention.Done, "%s since a moment later is the same", reason)
	}
}
