package agents

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/sim/rig"
)

// A person reads the times of a budget by the clock, and a program in UTC.
func TestCostsInWords(t *testing.T) {
	t.Parallel()
	year, month, day := time.Now().Date()
	midnight, later := time.Date(year, month, day+1, 0, 0, 0, 0, time.Local), time.Date(year, month, day+6, 0, 0, 0, 0, time.Local)
	sums := wire.Costs{Agents: []wire.AgentCost{
		{Handle: "api", SpentUSD: 5.5, EverUSD: 7, Budget: &wire.AgentBudget{Budget: "5.00/day", Over: true, Ends: &midnight}},
		{Handle: "web", Budget: &wire.AgentBudget{Budget: "9.00/week", Over: true, Ends: &later}},
		{Handle: "docs", Budget: &wire.AgentBudget{Budget: "1.00/hour", Ends: &midnight}},
	}}
	printed := func(isTerminal bool, o *costOptions) (out, said string) {
		var to, err strings.Builder
		f := &ui.Factory{Streams: ui.Streams{Out: &to, Err: &err, OutTTY: isTerminal, ErrTTY: isTerminal}}
		rig.Must(t, printCosts(f, o, &sums))
		return to.String(), err.String()
	}
	out, said := printed(true, &costOptions{from: midnight.AddDate(0, 0, -1)})
	rig.Equal(t, said, "spent since midnight\n", "the note")
	for _, words := range []string{"$5.00/day, spent, held until 00:00\n", "$9.00/week, spent, held until " + later.Format("Monday, 2 January") + "\n", "$1.00/hour\n"} {
		rig.Check(t, strings.Contains(out, words), "no %q in\n%s", words, out)
	}
	_, said = printed(true, &costOptions{since: "2h", from: time.Now().Add(-2 * time.Hour)})
	rig.Check(t, strings.HasPrefix(said, "spent since 2 hours ago"), "%s", said)
	out, _ = printed(false, &costOptions{})
	rig.Check(t, strings.HasPrefix(out, "api\t5.50\t7.00\t5.00/day, spent, held until "+midnight.UTC().Format(time.RFC3339)+"\n"), "in a pipe:\n%s", out)
}
