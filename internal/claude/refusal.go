package claude

import (
	"strings"

	"nbs-worker/internal/agent"
)

// RefusalKind says what claude's last words mean when it left right after its start.
func RefusalKind(words string) agent.Kind {
	for _, known := range []struct {
		text string
		kind agent.Kind
	}{
		{"No conversation found with session ID", agent.NotFound},
		{"is already in use", agent.Conflict},
		{RootRefusal, agent.BadInput},
		{"Allowed choices are", agent.BadInput},
		{"error: unknown option", agent.BadInput},
		{"Unable to connect to Anthropic services", agent.Held},
	} {
		if strings.Contains(words, known.text) {
			return known.kind
		}
	}
	return agent.Failed
}
