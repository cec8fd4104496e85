package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	brief "nbs-worker/internal/team/briefing"
)

type briefOptions struct {
	sessionID, why string
	tokens         int
}

func newMemoryBriefCmd(f *ui.Factory) *cobra.Command {
	o := &briefOptions{}
	cmd := &cobra.Command{
		Use:   "brief <handle>",
		Short: "Show the notes that a fresh conversation would get",
		Long: ui.WithCodes(`Prints the notes that nbs-worker resume <handle> --fresh --brief would give to the agent, at
most 8,000 characters: where the conversation stopped, from its transcript, and the latest
observations of the agent. brief asks no model, and the memory need not be on. --tokens shortens
each part in proportion; a token is taken as three bytes.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held),
		Example: `  nbs-worker memory brief theologian
  nbs-worker memory brief theologian --tokens 1000
  nbs-worker memory brief theologian --session-id ID`,
		Args:              ui.OneHandle,
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.AnyAgent)),
	}
	cmd.Flags().StringVar(&o.sessionID, "session-id", "", "one of the agent's conversations (default: the present one)")
	cmd.Flags().StringVar(&o.why, "why", "", "why the conversation was given up")
	cmd.Flags().IntVar(&o.tokens, "tokens", 0, "at most about this many tokens (default: 8,000 characters)")
	ui.CompleteWith(cmd, "session-id", f.CompleteEarlier)
	return remembering(f, cmd, func(ctx context.Context, args []string) error {
		if cmd.Flags().Changed("tokens") && o.tokens < brief.FewestTokens {
			return fail.Errorf(fail.BadInput, "--tokens %d must be %d or more", o.tokens, brief.FewestTokens).
				Hint("nbs-worker memory brief %s --tokens %d", args[0], brief.FewestTokens)
		}
		return runMemoryBrief(ctx, f, o, agent.Handle(args[0]))
	})
}

func runMemoryBrief(ctx context.Context, f *ui.Factory, o *briefOptions, handle agent.Handle) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	r, err := s.Project.Store.Load(handle)
	if err != nil {
		return err
	}
	id := cmp.Or(agent.SessionID(o.sessionID), r.SessionID)
	if !slices.Contains(r.Conversations(), id) {
		return fail.Errorf(fail.NotFound, "the agent was never in the conversation %s", human.Quote(string(id))).Hint("to see its conversations: nbs-worker session %s", r.Handle)
	}
	noted, err := services.Remembered(ctx, s.Project.Store, r.Handle)
	if err != nil {
		return err
	}
	words, from := brief.Text(s.Project, &r, brief.Wanted{SessionID: id, Why: o.why, Tokens: o.tokens}, noted)
	if from.Missed != nil {
		f.SayNote(from.Missed.Error())
	}
	if f.JSON {
		return f.PrintJSON(wire.NewBriefing(r.Handle, id, words, from))
	}
	_, err = f.Streams.Out.Write([]byte(words))
	return err
}
