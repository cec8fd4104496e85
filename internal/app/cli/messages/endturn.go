package messages

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/slurm"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/message"
	"nbs-worker/internal/team/supervisor"
)

func newInterruptCmd(f *ui.Factory) *cobra.Command {
	o := &ui.Selection{}
	cmd := &cobra.Command{
		Use:   "interrupt {<handle>... | @GROUP... | --all}",
		Short: "End the present turn of agents",
		Long: ui.WithCodes(`Presses Escape once in the terminals of agents that work on a turn and show their prompt. Exit
code 0 means that the end of the turn was observed. It prints one of:

  interrupted  the turn was interrupted; queued text is the next turn
  ended        the turn ended by itself at that moment
  idle         the agent had no turn, and nothing was pressed

If the turn had no answer yet, Claude forgets the prompt and puts it back into the input box.
interrupt prints it, writes it to the journal, and deletes it from the box; text that a person
may have typed stays. A dialog is left alone, since Escape would answer it. Changes that the turn
made on disk stay. Messages in the outbox are typed afterwards. An agent cannot interrupt
itself.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker interrupt theologian
  nbs-worker interrupt scout && nbs-worker send scout 'Chapter 2 first.'
  nbs-worker interrupt scout gatekeeper --json | jq -r '.[].outcome'`,
		Args:              o.Positional,
		ValidArgsFunction: f.SelectionWhere(ui.Running),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runInterrupt(cmd.Context(), f, o)
		},
	}
	cmd.Flags().BoolVar(&o.All, "all", false, "all agents of the project that run, except the caller")
	return f.WithJSON(cmd)
}

func runInterrupt(ctx context.Context, f *ui.Factory, o *ui.Selection) error {
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "interrupt")
	}
	handles, err := o.Resolve(ctx, s, func(row inspect.Row) bool { return row.Status.Running() && !s.Caller.Is(row.Handle) })
	if err != nil {
		return ui.Failed(err, "interrupt")
	}
	if len(handles) == 0 {
		f.Note("there is no agent to interrupt")
	}
	sender := message.New(s)
	return f.Each(ctx, "interrupt", handles, o.Several(), max(1, len(handles)), func(handle agent.Handle) (ui.Outcome, error) {
		done, err := sender.Interrupt(ctx, handle)
		if away, is := errors.AsType[*message.Elsewhere](err); is {
			return interruptedAtNode(ctx, s, away.Job, handle)
		}
		if err == nil && done.Outcome == message.Interrupted {
			err = sender.GoOn(ctx, done.Handle)
		}
		return interrupted(done, err)
	})
}

// interruptedAtNode interrupts an agent that runs in a job of Slurm on another node. What waits for it is delivered there.
func interruptedAtNode(ctx context.Context, s *supervisor.Supervisor, job slurm.Job, handle agent.Handle) (ui.Outcome, error) {
	var done []wire.Interruption
	err := ui.AtNode(ctx, s.Project, job, &done, "interrupt", string(handle))
	if len(done) != 1 || done[0].Outcome == "" {
		return ui.Outcome{}, err
	}
	one := done[0]
	return interrupted(message.Interruption{Handle: one.Handle, Outcome: one.Outcome, Prompt: one.Prompt, Left: one.Left}, err)
}

// interrupted returns the outcome of an interruption. A prompt that Claude returned is printed even with an error: it
// is not stored.
func interrupted(done message.Interruption, err error) (ui.Outcome, error) {
	if err != nil && done.Prompt == "" {
		return ui.Outcome{}, err
	}
	return ui.Outcome{JSON: wire.NewInterruption(done), Handle: done.Handle, Words: interruptionWords(done)}, err
}

func interruptionWords(done message.Interruption) string {
	words := string(done.Outcome)
	if done.Prompt != "" {
		words += fmt.Sprintf("; this prompt had no answer yet: %q", done.Prompt) // whole: Claude has dropped it
	}
	if done.Left {
		words += ", which is in its input box again"
	}
	return words
}
