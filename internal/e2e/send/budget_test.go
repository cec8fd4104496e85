package send

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// An agent whose budget is spent gets no message until it has another one, and its user is told. What it has spent is
// counted under its new handle too, and after its dismissal.
func TestBudget(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.WaitState("alpha", "idle")
	m.Costs("alpha", 7) // from before, for all that is known
	m.Refused(4, "not an amount", "set", "alpha", "budget=5")
	m.MustSay(m.OK("set", "alpha", "budget=5/week", "--json"), `"to":"5.00/week"`, `"takes_effect":"now"`)
	m.Costs("alpha", 8)
	m.Send(0, "accepted", "alpha", "it has enough")
	m.WaitState("alpha", "idle")
	m.Costs("alpha", 12.25)
	m.MustSay(m.OK("list", "--json"), `"reason":"short"`, `"spent_usd":5.25`, `"over":true`)
	m.MustSay(m.OK("next", "--print"), "alpha")
	m.MustSay(m.OK("session", "alpha"), "$5.25 of $5.00 a week is spent", "no message until then")
	m.Refused(8, "its budget is spent", "send", "alpha", "too late")
	got := m.Send(0, "held", "alpha", "in time", "--queue")
	m.Check(strings.Contains(got.Reason, "its budget is spent"), "%+v", got)
	m.Costs("alpha", 12.5)
	rig.Equal(m, strings.Count(m.OK("events", "alpha"), "over-budget"), 1, "the journal")
	said := m.AsAgent("alpha", "nbs-worker set alpha budget=off")
	m.Check(strings.Contains(said[0], "only a person may change a budget") && strings.HasSuffix(said[0], "code 8\n"), "the agent itself: %q", said)
	m.OK("set", "alpha", "budget=9/week")
	m.awaitOutbox() // by the launcher's clock
	m.Check(strings.Contains(strings.Join(m.prompts("alpha"), "\n"), "in time"), "%q", m.prompts("alpha"))
	m.WaitState("alpha", "idle")
	m.OK("rename", "alpha", "beta")
	m.OK("stop", "beta")
	rig.Equal(m, m.OK("cost", "beta"), "beta\t5.50\t5.50\t9.00/week\n", "its cost")
	m.OK("dismiss", "beta")
	var all struct {
		Agents []struct {
			Handle    string
			Dismissed bool
		}
		Spent float64 `json:"spent_usd"`
	}
	m.Must(json.Unmarshal([]byte(m.OK("cost", "--json")), &all))
	m.Check(len(all.Agents) == 1 && all.Agents[0].Handle == "beta" && all.Agents[0].Dismissed && all.Spent == 5.5, "%+v", all)
}

// What the agents of both versions spend is counted once, over a resume and a /clear.
func TestCost(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.WaitState("alpha", "idle")
	total := func() (usd float64) {
		var all struct {
			Ever float64 `json:"ever_usd"`
		}
		m.Must(json.Unmarshal([]byte(m.OK("cost", "--json")), &all))
		return all.Ever
	}
	turn := func(least, most float64) {
		m.Helper()
		m.WaitReport("alpha", "its total", func(r e2e.Report) bool { return r.Gauge != nil })
		before := total()
		m.Reply("alpha", "hello")
		m.WaitFor("the cost of a turn", func() (bool, string) {
			spent := total() - before
			return spent > least, fmt.Sprint(spent)
		})
		m.Check(total()-before < most, "the turn cost %v", total()-before)
	}
	turn(0, 1)
	first := total()
	m.OK("resume", "alpha", "--force")
	m.WaitState("alpha", "idle")
	turn(0, 1.5*first)
	before := m.Session("alpha")
	m.TypeLine(before, "/clear")
	m.WaitMoved(before, "clear")
	m.Reply("alpha", "hello") // 2.1.197 may show no total before it
	turn(0, 2.5*first)
	m.OK("resume", "alpha", "--force")
	m.WaitState("alpha", "idle")
	turn(0, 1.5*first)
	m.Check(total() < 6*first, "five turns cost %v, the first %v", total(), first)
}
