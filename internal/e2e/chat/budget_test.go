package chat

import "testing"

// A spent budget reaches the phone as what else an agent is short of.
func TestAPhoneIsToldOfASpentBudget(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--budget", "5/week")
	m.WaitState("alpha", "idle")
	p := m.bridged("--telegram-answers", user)
	m.Costs("alpha", 7) // from before, for all that is known
	m.Costs("alpha", 12.25)
	p.post("alpha ", "its budget is spent, $5.25 of $5.00 a week")
}
