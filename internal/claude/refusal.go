package claude

import (
	"strings"

	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/fail"
)

// RefusalKind classifies the last output of a claude that exited right after its start.
func RefusalKind(words string) fail.Kind {
	for _, known := range []struct {
		text string
		kind fail.Kind
	}{
		{"No conversation found with session ID", fail.NotFound},
		{"is already in use", fail.Conflict},
		{RootRefusal, fail.BadInput},
		{"Allowed choices are", fail.BadInput},
		{"Unable to connect to Anthropic services", fail.Held},
	} {
		if strings.Contains(words, known.text) {
			return known.kind
		}
	}
	if _, rest, found := strings.Cut(words, "error: unknown option '"); found {
		return unknownOption(rest)
	}
	return fail.Failed
}

// unknownOption decides by the owner of the option. If only nbs-worker sets it, claude is too old; any other option
// is the user's own.
func unknownOption(words string) fail.Kind {
	option, _, _ := strings.Cut(words, "'")
	if cmdline.IsOwned(option) {
		return fail.Unfit
	}
	return fail.BadInput
}
