package chat

import "testing"

// The claude of a conversation may ask in one of its own: its text says from whom it is, and takes nothing of its user's.
func TestAConversationAsksAnother(t *testing.T) {
	m := standIn(t)
	m.Env = append(m.Env, m.Before(m.Variable("NBS_CLAUDE"))) // a claude does not choose which one it asks
	asks := func(key, words string) string {
		got := m.Ask(0, key, `[[tool Bash {"command":"nbs-worker ask `+words+`"}]]`, "--", "--allowedTools", "Bash")
		return *got.Answer
	}
	m.MustSay(asks("outer", "inner hello --id 77"), "carries no authority")
	m.Says("inner", "mine", "You said: mine", "--id", "77")
	m.MustSay(asks("claude:outer", "outer hello"), "would wait for itself")
	m.MustSay(m.OK("conversation", "history", "claude:inner"), "carries no authority", "hello")
}
