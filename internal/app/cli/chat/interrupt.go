package chat

import (
	"context"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

func newConversationInterruptCmd(f *ui.Factory) *cobra.Command {
	return keyCmd(f, keyVerb{
		use: "interrupt <key>", short: "Stop the turn that is being answered",
		long: `Stops the turn that is being answered, and waits until it has ended. The conversation goes on: the
next text is answered with all that was said, and the turns behind the stopped one follow. Callers
that wait for its answer get an error, which names the tools that had run: what they did stays.

If Claude has answered, and goes on with background tasks or says something by itself, that is
ended. The answer stays, and a notice names what was ended.`,
		example: `  nbs-worker conversation interrupt review
  nbs-worker conversation interrupt telegram:123456789 --json`,
		codes: []fail.Kind{fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Held, fail.Interrupted},
		run: func(ctx context.Context, key conversations.Key, _ []string) error {
			s, err := f.Supervisor()
			if err != nil {
				return err
			}
			if key, err = s.Caller.Key(string(key)); err != nil {
				return err
			}
			why := "stopped by nbs-worker conversation interrupt"
			if s.Caller != nil {
				why = "stopped by " + s.Caller.String()
			}
			e := conversation.New(s.Project)
			stopped, err := e.Interrupt(ctx, key, 0, why)
			if err != nil {
				return err
			}
			return printChanged(f, e, key, stopped.Words())
		},
	})
}

// now is the flag --now of a verb that waits for a turn, or is refused while one runs.
type now struct{ is bool }

func (n *now) bind(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&n.is, "now", false, "first stop the turn that is being answered, or its background tasks")
}

// stop stops the turn of the conversation that runs, or what goes on after it, if something does and it is the one with
// the number (0: any). It returns how that has ended, or nil.
func (n *now) stop(ctx context.Context, e *conversation.Engine, key conversations.Key, seq int, why string) (*conversation.Stopped, error) {
	if !n.is {
		return nil, nil //nolint:nilnil // nothing was to be stopped
	}
	stopped, err := e.InterruptRunning(ctx, key, seq, why)
	if err != nil {
		return nil, unless(err, fail.NotFound, fail.Held)
	}
	return &stopped, nil
}

// unless returns the error, unless it is of one of the kinds.
func unless(err error, kinds ...fail.Kind) error {
	for _, kind := range kinds {
		if err != nil && fail.KindOf(err) == kind {
			return nil
		}
	}
	return err
}

// hintNow names --now in the error of a verb that a running turn keeps from its work.
func hintNow(err error, key conversations.Key, verb string, kind fail.Kind) error {
	if err == nil || fail.KindOf(err) != kind {
		return err
	}
	return fail.Errorf(kind, "%w", err).Hint("to stop that turn first: nbs-worker conversation %s %s --now", verb, human.ShellWord(string(key)))
}
