package memory

import "nbs-worker/internal/agent"

// Unseen is the line about a fault that concerns what a reader may not see.
const Unseen = "there is a fault in what is kept of a conversation that you may not read"

// Seen returns the line about a fault, which has ids of these agents and conversations, for a reader. A damaged memory is
// said to every reader, and the ids only to one who sees all of them. "" names no conversation.
func Seen(line string, sees func(agent.Handle) bool, of ...agent.Handle) string {
	for _, name := range of {
		if name != "" && !sees(name) {
			return Unseen
		}
	}
	return line
}
