package claude

import (
	"strings"

	"nbs-worker/internal/agent"
)

// RefusalKind classifies the last output of a claude that exited right after its start.
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

// unknownOption decides by the owner of the option: one that only nbs-worker sets is
// missing because claude is too old; any other is the user's own.
func unknownOption(words string) agent.Kind {
	option, _, _ := strings.Cut(words, "'")
	if owned(option) {
		return agent.Unfit
	}
	return agent.BadInput
}
