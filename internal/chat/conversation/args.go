package conversation

import (
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
)

// owned are the arguments that a turn sets itself, or that would change what claude is told in it.
var owned = []string{"--input-format", "--output-format", "--replay-user-messages", "--system-prompt", "--system-prompt-file"}

// CheckArgs checks the user's own arguments for claude. Errors: BadInput.
func CheckArgs(args []string) error {
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); slices.Contains(owned, name) {
			return agent.Errorf(agent.BadInput, "extra argument %s is set by nbs-worker itself", agent.Quote(name)).Hint("nbs-worker ask --help")
		}
	}
	return claude.CheckExtraArgs(args)
}
