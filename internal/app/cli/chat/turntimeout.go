package chat

import (
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
)

// turnTimeout is the flag --turn-timeout: how long claude may be silent in a turn.
type turnTimeout struct {
	cmd   *cobra.Command
	limit time.Duration
}

func (t *turnTimeout) bind(cmd *cobra.Command, usage string) {
	t.cmd = cmd
	cmd.Flags().DurationVar(&t.limit, "turn-timeout", conversation.TurnTimeout, usage)
}

func (t *turnTimeout) isGiven() bool { return t.cmd.Flags().Changed("turn-timeout") }

// silence returns the limit for a request; 0 if it was not given. Errors: BadInput.
func (t *turnTimeout) silence() (time.Duration, error) {
	switch {
	case !t.isGiven():
		return 0, nil
	case t.limit < 0:
		return 0, fail.Errorf(fail.BadInput, "--turn-timeout %s is negative", t.limit).Hint("0: no limit")
	case t.limit == 0:
		return conversations.Unlimited, nil
	}
	return t.limit, nil
}

// turnTimeoutWords writes the limit of a conversation; "" if none was chosen.
func turnTimeoutWords(seconds int64) string {
	switch {
	case seconds < 0:
		return "none"
	case seconds == 0:
		return ""
	}
	return (time.Duration(seconds) * time.Second).String()
}
