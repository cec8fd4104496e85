package conversation

import (
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/store/conversations"
)

// ClassDenied is the class of a turn that counts as failed because a tool was refused.
const ClassDenied turn.Class = "denied"

// noteDenials returns the refused tools of an outcome for its result, and adds the notice that names each once. If the
// request says so, the outcome becomes a failure.
func (j *job) noteDenials(o *turn.Outcome) []conversations.Denial {
	if len(o.Denials) == 0 {
		return nil
	}
	var tools []string
	for _, d := range o.Denials {
		if !slices.Contains(tools, d.Tool) {
			tools = append(tools, d.Tool)
		}
	}
	words := "Claude was not permitted to use " + strings.Join(tools, ", ")
	j.notices = append(j.notices, words+".")
	if o.Class == turn.Answered && j.ask.FailDenied {
		o.Class, o.Detail = ClassDenied, words
	}
	return agent.Mapped(o.Denials, func(d turn.Denial) conversations.Denial { return conversations.Denial(d) })
}
