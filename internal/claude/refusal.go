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
		{"Unable to connect to Anthropic services", agent.Held},
	} {
		if strings.Contains(words, known.text) {
			return known.kind
		}
	}
	if _, rest, found := strings.Cut(words, "error: unknown option '"); found {
		return unknownOption(rest)
	}
	return agent.Failed
}

// unknownOption judges by whose option it was: one of ours is missing in a claude that
// is too old, and nobody else can give it; any other one is the user's own.
func unknownOption(words string) agent.Kind {
	option, _, _ := strings.Cut(words, "'")
	if owned(option) {
		return agent.Unfit
	}
	return agent.BadInput
}
