package inspect

import (
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
)

// LastWords is what an agent said last in its conversation; "" where that cannot be told.
func (i *Inspector) LastWords(r *agent.Record) string {
	config, err := i.ConfigOf(r)
	if err != nil {
		return ""
	}
	file, found, err := config.Transcript(r.SessionID)
	if err != nil || !found {
		return ""
	}
	own := func(m transcript.Message) bool { return m.Speaker == transcript.Agent && m.Failure == "" }
	said, err := file.Conversation(transcript.Wanted{Keep: own, Last: 1})
	if err != nil {
		return ""
	}
	words := ""
	if err := said.Each(func(m transcript.Message) error {
		words = strings.TrimSpace(m.Text)
		return nil
	}); err != nil {
		return ""
	}
	return words
}
