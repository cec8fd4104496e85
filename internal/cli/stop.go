package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/supervisor"
)

func newStopCmd(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop <handle>...",
		Short: "End an agent and keep its record",
		Long: withCodes(`Ends the agent: TERM, up to 5 s, KILL; then what its tools left running, and its
tmux session. 0 only when all of it was seen to be gone. The record stays, marked as
stopped, and nbs-worker resume brings the agent back. An agent that does not run is
marked as well.`,
			agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Conflict, agent.Unfit, agent.Partial),
		Example: `  nbs-worker stop theologian
  nbs-worker stop theologian gatekeeper`,
		Args:              someHandles,
		ValidArgsFunction: f.completeHandles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runEnding(cmd.Context(), f, "stop", args, (*supervisor.Supervisor).Stop)
		},
	}
	f.jsonFlag(cmd)
	return cmd
}

func newDismissCmd(f *factory) *cobra.Command {
	keep := false
	cmd := &cobra.Command{
		Use:   "dismiss <handle>...",
		Short: "End an agent and remove its record",
		Long: withCodes(`Ends the agent as nbs-worker stop does, then removes its record. The journal,
.nbs/journal.jsonl, keeps the session id, and Claude keeps the transcript for some
weeks: nbs-worker spawn <handle> --session-id <id> takes the conversation up again.
The transcript's second name in .nbs/transcripts is removed; with --keep it stays, and
the conversation can be taken up for ever. One that Claude has deleted already always
stays: it is the last.`,
			agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Conflict, agent.Unfit, agent.Partial),
		Example: `  nbs-worker dismiss theologian
  nbs-worker dismiss scout gatekeeper
  nbs-worker dismiss theologian --keep     # and let Claude delete its transcript one day`,
		Args:              someHandles,
		ValidArgsFunction: f.completeHandles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runEnding(cmd.Context(), f, "dismiss", args, func(s *supervisor.Supervisor, ctx context.Context, handle agent.Handle) (supervisor.Stopped, error) {
				return s.Dismiss(ctx, handle, keep)
			})
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the transcripts that .nbs keeps where they are, and say where")
	f.jsonFlag(cmd)
	return cmd
}

// ending is what stop and dismiss have in common.
type ending func(*supervisor.Supervisor, context.Context, agent.Handle) (supervisor.Stopped, error)

func runEnding(ctx context.Context, f *factory, verb string, handles []string, end ending) error {
	s, err := f.supervisor()
	if err != nil {
		return failed(err, verb)
	}
	return f.each(verb, handles, func(handle agent.Handle) error {
		ended, err := end(s, ctx, handle)
		if err != nil {
			return err
		}
		f.warnUnkept(verb, handle, ended.Unkept)
		if f.json {
			return f.printJSON(endedJSON{
				Handle: ended.Record.Handle, SessionID: ended.Record.SessionID, Result: verb, Was: ended.Was.Word(), Kept: ended.Kept,
			})
		}
		for _, path := range ended.Kept {
			f.say("%s %s: its transcript stays: %s", verb, handle, path)
		}
		f.note("%s: was %s, session %s", ended.Record.Handle, ended.Was.Word(), ended.Record.SessionID)
		_, err = fmt.Fprintln(f.streams.Out, ended.Record.Handle)
		return err
	})
}
