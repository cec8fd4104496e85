package agents

import (
	"os"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
)

// trustFlag is --trust for the agent's folder in the project, and --trust=DIR for any folder.
type trustFlag struct {
	given bool
	dir   string // as typed; "" if not given
}

func (t *trustFlag) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolFunc("trust", "trust the agent's folder, as Claude's dialog does; one outside of the project must be named: --trust=DIR", func(text string) error {
		t.given, t.dir = text != "false", ""
		if text != "true" && text != "false" {
			t.dir = text
		}
		return nil
	})
	flags.Lookup("trust").DefValue = "false" // as shown in the man page
}

// checkNext refuses a folder in place of the prompt: after a space it is not a value of --trust.
func (t *trustFlag) checkNext(word string) error {
	if !t.given || t.dir != "" {
		return nil
	}
	if info, err := os.Stat(word); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // what cannot be looked at is a prompt
	}
	return fail.Errorf(fail.BadInput, "spawn: --trust takes a folder only after an equals sign").
		Hint("if this is not the prompt: --trust=%s", ui.LineQuote(word))
}
