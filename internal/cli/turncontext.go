package cli

import (
	"os"

	"github.com/spf13/cobra"

	"nbs-worker/internal/conversation"
)

func newTurnContextCmd(f *factory) *cobra.Command {
	return &cobra.Command{
		Use:   "turn-context",
		Short: "Print what Claude is told beside the text of a turn",
		Long: withCodes(`Claude calls this itself, in a hook: each claude of a conversation is started with one that does.
It prints the file that NBS_TURN_CONTEXT names, and nothing where there is none.`),
		Example: `  nbs-worker turn-context`,
		Hidden:  true,
		RunE: func(*cobra.Command, []string) error {
			if text, err := os.ReadFile(os.Getenv(conversation.ContextVariable)); err == nil {
				_, _ = f.streams.Out.Write(text)
			}
			return nil
		},
	}
}
