package conversation

import (
	"slices"
	"strings"

	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// owned are the arguments that a turn sets itself, and those that would change claude's input.
var owned = []string{"--input-format", "--output-format", "--replay-user-messages", "--system-prompt", "--system-prompt-file"}

// CheckArgs checks the user's own arguments for claude. Errors: BadInput.
func CheckArgs(args []string) error {
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); slices.Contains(owned, name) {
			return fail.Errorf(fail.BadInput, "extra argument %s is set by nbs-worker itself", human.Quote(name)).Hint("nbs-worker help ask")
		}
	}
	return cmdline.CheckExtraArgs(args)
}
