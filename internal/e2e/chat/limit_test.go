package chat

import "testing"

// A turn that a limit ended stays part of the conversation: the next text is answered with its memory. The limit of
// the first turn is the conversation's.
func TestSilentTurnIsEnded(t *testing.T) {
	m := eachVersion(t)
	m.Says("review", "Remember 42.", "OK, I will remember 42.", "--turn-timeout", "1h")
	m.MustSay(m.OK("conversation", "show", "review"), "turn timeout", "1h0m0s")
	m.Refused(3, "claude was silent for 2s; the conversation is kept", "ask", "review", "[[delay 1h]] hello", "--turn-timeout", "2s")
	m.Says("review", "What number?", "42")
	m.NoTurnFiles()
}
