package ui

import (
	"github.com/spf13/cobra"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// WithJSON adds --json to a reporting command.
func (f *Factory) WithJSON(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&f.JSON, "json", false, "print JSON on stdout")
	return cmd
}

// NoArguments refuses all arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fail.Errorf(fail.BadInput, "%s takes no arguments, but %s was given", cmd.Name(), human.Quote(args[0])).Hint("%s --help", cmd.CommandPath())
}
