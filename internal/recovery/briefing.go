package recovery

import (
	"fmt"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/runs"
)

// lastWordsLimit is how much of what an agent said last is repeated to it, in characters.
const lastWordsLimit = 600

// briefing is the first prompt of an agent that is given a new conversation: its own first prompt,
// and where its memory is.
func (v *verbs) briefing(p *Patient, attempt runs.Attempt) string {
	r := p.View.Record
	old := r
	old.SessionID = attempt.SessionID
	var b strings.Builder
	if r.InitialPrompt != "" {
		b.WriteString(r.InitialPrompt + "\n\n")
	}
	fmt.Fprintf(&b, `You are agent %[1]s, in a new conversation: your earlier one, %[2]s, could not be gone on with (%[3]s).
What was said in it can be read with: nbs-worker logs %[1]s --session-id %[2]s -n 40
Read that first, find out what was done and what is left to do, and go on from there.`, r.Handle, attempt.SessionID, attempt.Why)
	if words := v.LastWords(&old); words != "" {
		fmt.Fprintf(&b, "\nThe last that you said in it was: %s", shortened(words))
	}
	return b.String()
}

// shortened is a text on one line, cut to what is repeated of it.
func shortened(text string) string {
	characters := []rune(strings.Join(strings.Fields(agent.Legible(text)), " "))
	if len(characters) > lastWordsLimit {
		return string(characters[:lastWordsLimit]) + "…"
	}
	return string(characters)
}
