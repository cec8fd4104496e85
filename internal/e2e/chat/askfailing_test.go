package chat

import "testing"

// A failure of the API loses no conversation: the turn is answered later, or held until a retry, and the next one knows
// what was said.
func TestAConversationSurvivesErrors(t *testing.T) {
	m := standIn(t)
	m.Chats()
	id := m.Says("review", "Remember 42.", "OK, I will remember 42.").SessionID
	m.Says("review", "[[error 529]] hello", "You said: [[error 529]] hello")
	m.Ask(8, "review", "[[error 429]] hello")
	open := m.keyed("review").Open
	m.Check(len(open) == 1 && open[0].State == "held" && open[0].Class == "limit" && open[0].Reason != "", "%+v", open)
	m.MustPrint("You said: [[error 429]] hello\n", "conversation", "retry", "review")
	last := m.Says("review", "What number?", "42")
	m.Check(last.SessionID == id && last.Continuity == "resumed", "%+v", last)
}
