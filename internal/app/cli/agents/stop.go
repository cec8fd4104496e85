package agents

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/supervisor"
)

// forget removes the memory of a dismissed agent, if the caller may.
func forget(f *ui.Factory, ctx context.Context, s *supervisor.Supervisor, handle agent.Handle) error {
	if !services.HasMemory(s.Project.Store) {
		return nil
	}
	if err := s.Caller.Check(f.Powers["memory forget"]); err != nil {
		return err
	}
	m, err := services.OpenMemory(ctx, s.Project.Store, false)
	if err != nil {
		return err
	}
	_, _, err = m.ForgetHandle(ctx, handle)
	return errors.Join(err, m.Close())
}

func newStopCmd(f *ui.Factory) *cobra.Command {
	o := &endingOptions{}
	cmd := &cobra.Command{
		Use:   "stop {<handle>... | @GROUP... | --all}",
		Short: "End agents and keep their records",
		Long: ui.WithCodes(`Ends agents: SIGTERM, SIGKILL after 5 s, then the processes that their tools left running,
then their panes. Other panes and windows of the tmux session stay. Exit code 0 means that all
of it is gone. The records stay, marked as stopped: nbs-worker resume brings the agents back.
If an agent runs as a job of Slurm on another machine, or waits there, its job is cancelled.

stop finds leftover processes by NBS_INVOCATION_ID in their environment, or by their process
group. A process that detaches itself, as daemons do, and also drops its environment, cannot
be seen and keeps running.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker stop theologian
  nbs-worker stop theologian gatekeeper
  nbs-worker stop --all`,
		Args:              o.Positional,
		ValidArgsFunction: f.SelectionWhere(ui.Running),
		RunE: func(cmd *cobra.Command, _ []string) error {
			takes := func(row inspect.Row) bool {
				return row.Status.Running() || row.Status.State == agent.Backoff || row.Record.LaunchDesired() == agent.DesiredRunning
			}
			return runEnding(cmd.Context(), f, "stop", o, takes, (*supervisor.Supervisor).Stop)
		},
	}
	cmd.Flags().BoolVar(&o.All, "all", false, "all agents of the project that run or should run")
	return f.WithJSON(cmd)
}

func newDismissCmd(f *ui.Factory) *cobra.Command {
	o, keep, tree := &endingOptions{}, false, false
	cmd := &cobra.Command{
		Use:   "dismiss {<handle>... | @GROUP... | --all}",
		Short: "End agents and remove their records",
		Long: ui.WithCodes(`Ends agents as stop does, and removes their records, their archived transcripts, and what is
remembered about them. --keep keeps transcripts and memory. The journal keeps the session ids:
while Claude has the transcript, usually for some weeks, nbs-worker spawn <handle>
--session-id <id> continues the conversation. An archived transcript that Claude has already
deleted is never removed: it is the last copy.

A worktree that was made for the agent stays. --remove-worktree removes it too, if nothing in it
can be lost; otherwise the agent is not dismissed (nbs-worker help worktrees).

--all dismisses every agent of the project. It asks first, unless --yes is given.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker dismiss theologian
  nbs-worker dismiss scout gatekeeper
  nbs-worker dismiss theologian --keep   # the archived transcripts stay
  nbs-worker dismiss --all --yes`,
		Args:              o.Positional,
		ValidArgsFunction: f.SelectionWhere(ui.AnyAgent),
		RunE: func(cmd *cobra.Command, _ []string) error {
			end := func(s *supervisor.Supervisor, ctx context.Context, handle agent.Handle) (supervisor.Stopped, error) {
				if tree {
					return s.DismissWithTree(ctx, handle, keep)
				}
				return s.Dismiss(ctx, handle, keep)
			}
			o.forgets = !keep
			return runEnding(cmd.Context(), f, "dismiss", o, func(inspect.Row) bool { return true }, end)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&keep, "keep", false, "keep the archived transcripts, print their paths, and keep what is remembered")
	flags.BoolVar(&tree, "remove-worktree", false, "remove the worktree that was made for the agent, if nothing in it can be lost")
	flags.BoolVar(&o.All, "all", false, "all agents of the project")
	flags.BoolVarP(&o.Yes, "yes", "y", false, "do not ask")
	return f.WithJSON(cmd)
}

type endingOptions struct {
	ui.Selection

	forgets bool // also forgets the agents' memory
}

// ending is the function behind stop or dismiss.
type ending func(*supervisor.Supervisor, context.Context, agent.Handle) (supervisor.Stopped, error)

// endedAs names the result, by verb.
var endedAs = map[string]string{"stop": "stopped", "dismiss": "dismissed"}

func runEnding(ctx context.Context, f *ui.Factory, verb string, o *endingOptions, takes func(inspect.Row) bool, end ending) error {
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, verb)
	}
	handles, err := o.Resolve(ctx, s, takes)
	if err == nil && verb == "dismiss" {
		err = o.Confirm(ctx, f, verb, handles)
	}
	if err != nil {
		return ui.Failed(err, verb)
	}
	if len(handles) == 0 {
		f.Note("there is no agent to %s", verb)
	}
	if verb == "stop" && o.All && len(handles) > 0 {
		defer f.HintBack(handles)
	}
	return f.Each(ctx, verb, handles, o.Several(), ui.AtOnce(), func(handle agent.Handle) (ui.Outcome, error) {
		gone, err := end(s, ctx, handle)
		if err != nil {
			return ui.Outcome{}, err
		}
		f.SayEnded(verb, gone)
		if gone.Dropped > 0 {
			f.Say("%s %s: dropped %s from its outbox; the journal has the beginning of each: nbs-worker events %s", verb, handle, human.Count(gone.Dropped, "message"), handle)
		}
		if !f.JSON {
			for _, path := range gone.Kept {
				f.Say("%s %s: its transcript stays: %s", verb, handle, path)
			}
		}
		sayTree(f, verb, &gone)
		if o.forgets {
			if err := forget(f, ctx, s, handle); err != nil {
				f.Say("%s %s: what is remembered about it stays: %s; to remove it: nbs-worker memory forget --handle %s --yes", verb, handle, err, handle)
			}
		}
		words := fmt.Sprintf("%s, was %s, session %s", endedAs[verb], gone.Was.Word(), gone.Record.SessionID)
		return ui.Outcome{JSON: wire.NewEnded(gone, endedAs[verb]), Handle: gone.Record.Handle, Words: words}, nil
	})
}
