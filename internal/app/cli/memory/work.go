package memory

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/memory/observer"
)

type workOptions struct {
	once          bool
	handle, model string
	perDay        int
}

func newMemoryWorkCmd(f *ui.Factory) *cobra.Command {
	o := &workOptions{}
	cmd := &cobra.Command{
		Use:   "work",
		Short: "Observe the agents and conversations whose memory is on",
		Long: ui.WithCodes(`Runs in the foreground until it is interrupted (exit code 130), once per project. It shows
each finished turn to an observer once, and stores the observations. nbs-worker serve does the
same. If the API refuses, it tries again later; nbs-worker memory status shows that. When the
tokens of a day are used up, it pauses until the next day, in UTC. With --once it ends with 7 if
something is still waiting.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker memory work
  nbs-worker memory work --once --handle theologian`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.once, "once", false, "observe the present turns, and exit")
	flags.StringVar(&o.handle, "handle", "", "only this agent, or the conversation with this key")
	flags.StringVar(&o.model, "model", "haiku", "model of the observers")
	flags.IntVar(&o.perDay, "tokens-per-day", 500_000, "tokens that the observers may use per day, in UTC")
	ui.CompleteWith(cmd, "handle", f.HandlesWhere(ui.AnyAgent))
	ui.CompleteWith(cmd, "model", ui.CompleteModels)
	return remembering(f, cmd, func(ctx context.Context, _ []string) error { return runMemoryWork(ctx, f, o) })
}

func runMemoryWork(ctx context.Context, f *ui.Factory, o *workOptions) error {
	model, err := agent.ChooseModel(o.model)
	if err != nil {
		return err
	}
	if o.perDay < 1 {
		return fail.Errorf(fail.BadInput, "--tokens-per-day must be 1 or more")
	}
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	var handle agent.Handle
	if o.handle != "" {
		if handle, err = nameOf(s, o.handle); err != nil {
			return err
		}
		if _, isChat := handle.Conversation(); !isChat {
			if _, err := s.Project.Store.Load(handle); err != nil {
				return err
			}
		}
	}
	if !services.HasMemory(s.Project.Store) && len(observed(s))+len(observedChats(s)) == 0 {
		return fail.Errorf(fail.NotFound, "no agent has its memory on").Hint("to turn it on for an agent: nbs-worker memory on HANDLE")
	}
	err = services.Observe(ctx, s, func(w *observer.Worker) error {
		w.Handle, w.Model, w.TokensPerDay, w.Said = handle, cmp.Or(model, w.Model), o.perDay, f.Say
		if !o.once {
			return w.Run(ctx)
		}
		done, err := w.Once(ctx)
		if err != nil {
			return err
		}
		return worked(f, done)
	})
	if ctx.Err() == nil {
		return err
	}
	return ui.ExitError(fail.Interrupted)
}

// worked prints the outcome of one round.
func worked(f *ui.Factory, done observer.Report) error {
	waits := agent.Mapped(done.Waiting, func(w observer.Waiting) string {
		return fmt.Sprintf("%s: the conversation %s is not fully observed: %s", w.Handle.Name(), w.ContentID, w.Why)
	})
	if f.JSON {
		if err := f.PrintJSON(wire.Worked{Turns: done.Turns, Observations: done.Observations, Tokens: done.Tokens, Waiting: append([]string{}, waits...)}); err != nil {
			return err
		}
	} else {
		for _, line := range waits {
			f.Say("%s", line)
		}
		f.Note("%s of %s, for %s tokens", human.Count(done.Observations, "observation"), human.Count(done.Turns, "turn"), human.Thousands(done.Tokens))
	}
	if len(waits) == 0 {
		return nil
	}
	return fail.Errorf(fail.Partial, "not everything was observed: %s will be tried again", human.Count(len(waits), "conversation")).
		Hint("to see why: nbs-worker memory status")
}
