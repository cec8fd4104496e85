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
	words, denials := deniedWords(o.Denials)
	j.notices = append(j.notices, words+".")
	if o.Class == turn.Answered && j.ask.FailDenied {
		o.Class, o.Detail = ClassDenied, words
	}
	return denials
}

// deniedWords names each of the tools once that were refused, and returns them for the result.
func deniedWords(all []turn.Denial) (words string, denials []conversations.Denial) {
	var tools []string
	for _, d := range all {
		if !slices.Contains(tools, d.Tool) {
			tools = append(tools, d.Tool)
		}
	}
	return "Claude was not permitted to use " + strings.Join(tools, ", "), agent.Mapped(all, func(d turn.Denial) conversations.Denial { return conversations.Denial(d) })
}
