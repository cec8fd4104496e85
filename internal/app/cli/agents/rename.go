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
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/teamfile"
)

func newRenameCmd(f *ui.Factory) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "rename <handle> <new handle>",
		Short: "Give an agent another handle",
		Long: ui.WithCodes(`Gives an agent another handle: its record, what is remembered about it, its waiting messages
and its tmux session. Its conversation, its folder and its git worktree stay as they are.

A running agent is ended and started again in the same conversation, because the handle is in
the environment of its processes. It must be idle; --force also breaks off a turn or a dialog.
The agent itself is not told.

If rename was interrupted or killed, the same command completes it. Until then the agent cannot
be resumed. The journal has earlier events under the old handle, and files that you write, such
as team.yaml and schedules.yaml, still name it.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker rename theologian librarian
  nbs-worker rename theologian librarian --force`,
		Args:              twoHandles,
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.AnyAgent)),
		RunE: func(cmd *cobra.Command, args []string) error {
			rename := supervisor.Rename{From: agent.Handle(args[0]), To: agent.Handle(args[1]), Force: force}
			return ui.Failed(runRename(cmd.Context(), f, rename), "rename", args[0])
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also in the middle of a turn or at a dialog")
	return f.WithJSON(cmd)
}

// twoHandles checks the positional arguments of a verb that takes an agent and a new handle.
func twoHandles(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return fail.Errorf(fail.BadInput, "%s: an agent and its new handle are needed, %d given", cmd.Name(), len(args)).
			Hint("%s --help", cmd.CommandPath())
	}
	return ui.SomeHandles(cmd, args)
}

func runRename(ctx context.Context, f *ui.Factory, rename supervisor.Rename) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	if services.HasMemory(s.Project.Store) {
		rename.Remembered = func(ctx context.Context) error {
			return renameRemembered(ctx, s.Project.Store, rename.From, rename.To)
		}
	}
	rename.Start = launch.Start{Wait: ui.ReadyWait, Patience: true, Progress: f.Progress(rename.To)}
	renamed, err := s.Rename(ctx, rename)
	if renamed.Dropped > 0 {
		f.Say("rename %s: dropped %s that no command of yours wrote; the journal has the beginning of each: nbs-worker events %s", rename.To, human.Count(renamed.Dropped, "message"), renamed.From)
	}
	if renamed.Again != nil {
		f.SayStarted(rename.To, *renamed.Again)
	}
	if err != nil {
		return err
	}
	if file, err := teamfile.Open(s.Project.Store.Project(), ""); err == nil && file.File.Agent(renamed.From) != nil {
		f.Hint("team.yaml still names %s, and up would start a second agent: write %s there", renamed.From, rename.To)
	}
	r := &renamed.Record
	words := fmt.Sprintf("was %s, session %s", renamed.From, r.SessionID)
	if renamed.Again != nil {
		words += fmt.Sprintf(", started again: %s, tmux %s", renamed.Again.Status.Word(), renamed.Again.Record.TmuxSession)
	}
	return f.ShowOne(ui.Outcome{JSON: wire.NewRenamed(renamed), Handle: r.Handle, Words: words})
}

// renameRemembered moves what the memory has about an agent.
func renameRemembered(ctx context.Context, in *store.Store, from, to agent.Handle) error {
	m, err := services.OpenMemory(ctx, in, false)
	if err != nil {
		return err
	}
	return errors.Join(m.Rename(ctx, from, to), m.Close())
}
