package conversation

import (
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/store/conversations"
)

// noteDenials returns the refused tools of an answer for its result, and adds the notice that names them.
func (j *job) noteDenials(o *turn.Outcome) []conversations.Denial {
	denials := agent.Mapped(o.Denials, func(d turn.Denial) conversations.Denial { return conversations.Denial(d) })
	if words := DeniedWords(denials); words != "" {
		j.notices = append(j.notices, words)
	}
	return denials
}

// DeniedTools names each refused tool once.
func DeniedTools(denials []conversations.Denial) (tools []string) {
	for _, d := range denials {
		if !slices.Contains(tools, d.Tool) {
			tools = append(tools, d.Tool)
		}
	}
	return tools
}

// DeniedWords says for a person which tools were refused; "" if none was.
func DeniedWords(denials []conversations.Denial) string {
	if len(denials) == 0 {
		return ""
	}
	return "Claude was not permitted to use " + strings.Join(DeniedTools(denials), ", ") + "."
}
