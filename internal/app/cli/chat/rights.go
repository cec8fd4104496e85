package chat

import (
	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/store/conversations"
)

// rightsFlags are the flags that say what Claude may do without a person to ask.
type rightsFlags struct {
	mode  string
	tools []string
}

// bind defines the flags. whose says for which turns they count.
func (r *rightsFlags) bind(cmd *cobra.Command, whose string) {
	cmd.Flags().StringVar(&r.mode, "permission-mode", "", "what Claude may do unasked: plan, dontAsk, default, acceptEdits, auto or bypassPermissions; "+whose)
	cmd.Flags().StringArrayVar(&r.tools, "allowed-tools", nil, "tools that Claude may use, as for Claude itself: Read,Write,'Bash(git *)'; "+whose+"; repeatable")
	ui.CompleteWith(cmd, "permission-mode", ui.CompleteModes)
}

// parse returns what the flags give. Errors: BadInput.
func (r *rightsFlags) parse() (conversations.Rights, error) {
	return conversations.ParseRights(r.mode, r.tools...)
}
