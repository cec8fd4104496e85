package messages

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/message"
)

func newCompactCmd(f *ui.Factory) *cobra.Command {
	o := message.Compact{}
	cmd := &cobra.Command{
		Use:   "compact <handle> [INSTRUCTIONS]",
		Short: "Compact an agent's conversation",
		Long: ui.WithCodes(`Has Claude replace the conversation with a summary, as /compact does, waits for the end, and
prints how full the context was before and after. INSTRUCTIONS are for the summary. compact
waits for a busy agent. The session id stays the same. Do not type in the agent's terminal
meanwhile: your words could become part of the instructions.

compact ends with 1 if the API refused, or if the conversation is at its compaction floor: less
than a tenth of it was freed, or there is nothing more to compact. Then start a new
conversation: nbs-worker resume <handle> --force --fresh.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker compact theologian
  nbs-worker compact theologian 'Keep the list of open questions.'
  nbs-worker compact theologian --json | jq .after.left_percent`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := ui.SomeHandles(cmd, args[:min(1, len(args))]); err != nil {
				return err
			}
			o.Instructions = strings.Join(args[1:], " ")
			if o.Timeout < 0 {
				return fail.Errorf(fail.BadInput, "compact: --timeout %s is negative", o.Timeout).Hint("0: no limit")
			}
			return nil
		},
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.Running)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ui.Failed(runCompact(cmd.Context(), f, agent.Handle(args[0]), o), "compact", args[0])
		},
	}
	cmd.Flags().DurationVar(&o.Timeout, "timeout", 10*time.Minute, "give up waiting after this time; 0: never")
	return f.WithJSON(cmd)
}

func runCompact(ctx context.Context, f *ui.Factory, handle agent.Handle, o message.Compact) error {
	bands, err := ui.ContextBands()
	if err != nil {
		return err
	}
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	sender, began := f.NewSending(s, message.Message{Timeout: o.Timeout}, true), time.Now()
	stop := ui.AfterASecond(ctx, func(ctx context.Context) { sender.Notice(ctx, handle, began, "until it is compacted") })
	done, err := sender.Sender.Compact(ctx, handle, o)
	stop()
	made := ui.Outcome{JSON: wire.NewCompaction(done, err, bands, s.Project.Now()), Handle: done.Handle, Words: done.String()}
	if err != nil && !f.JSON || cannotBe(err) {
		return err
	}
	return errors.Join(f.ShowOne(made), err)
}
