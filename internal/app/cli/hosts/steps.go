package hosts

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/move"
	"nbs-worker/internal/store/jobs"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/supervisor"
)

// The steps of a move. Package move says what each does; people type move.

type stepOptions struct {
	id, to, from, command, digest string
	place                         string
	look, force, check, done      bool
	cancel, noStart, trust, lost  bool
	drop                          bool
}

func newGiveCmd(f *ui.Factory) *cobra.Command {
	var o stepOptions
	cmd := step("give HANDLE", "Hand out an agent that moves (started by move)", 1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return ui.Failed(runGive(cmd.Context(), f, agent.Handle(args[0]), o), "host give", args[0])
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.look, "look", false, "only say where it is")
	flags.StringVar(&o.id, "id", "", "of the move")
	flags.StringVar(&o.to, "to", "", "the name of the other machine")
	flags.StringVar(&o.place, "place", "", "the id of the other machine")
	flags.StringVar(&o.from, "from", "", "the name of this machine")
	flags.StringVar(&o.command, "command", "", "completes the move")
	flags.BoolVar(&o.force, "force", false, "also in the middle of a turn")
	return cmd
}

func newTakeCmd(f *ui.Factory) *cobra.Command {
	var o stepOptions
	cmd := step("take", "Keep the package of an agent that moves here (started by move)", 0)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return ui.Failed(runTake(cmd.Context(), f, o), "host take")
	}
	cmd.Flags().BoolVar(&o.check, "check", false, "only check whether it can come")
	cmd.Flags().BoolVar(&o.drop, "drop", false, "remove what has come by a move that was canceled")
	cmd.Flags().StringVar(&o.id, "id", "", "of the move")
	return cmd
}

func newLeaveCmd(f *ui.Factory) *cobra.Command {
	var o stepOptions
	cmd := step("leave HANDLE", "End the being here of an agent that moves (started by move)", 1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return ui.Failed(runLeave(cmd.Context(), f, agent.Handle(args[0]), o), "host leave", args[0])
	}
	flags := cmd.Flags()
	flags.StringVar(&o.id, "id", "", "of the move")
	flags.StringVar(&o.digest, "digest", "", "of the package that was taken")
	flags.BoolVar(&o.done, "done", false, "note that it has arrived")
	flags.BoolVar(&o.cancel, "cancel", false, "keep it here")
	flags.BoolVar(&o.lost, "lost", false, "bring it back here")
	return cmd
}

func newArriveCmd(f *ui.Factory) *cobra.Command {
	var o stepOptions
	cmd := step("arrive HANDLE", "Make an agent of a package (started by move)", 1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return ui.Failed(runArrive(cmd.Context(), f, agent.Handle(args[0]), o), "host arrive", args[0])
	}
	flags := cmd.Flags()
	flags.StringVar(&o.id, "id", "", "of the move")
	flags.StringVar(&o.digest, "digest", "", "of the package")
	flags.StringVar(&o.from, "from", "", "the name of the other machine")
	flags.BoolVar(&o.noStart, "no-start", false, "leave it stopped")
	flags.BoolVar(&o.trust, "trust", false, "trust its folder here")
	return cmd
}

func step(use, short string, words int) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Hidden: true, Args: func(cmd *cobra.Command, args []string) error {
		if len(args) != words {
			return fail.Errorf(fail.BadInput, "host %s: %d words, %d given", cmd.Name(), words, len(args))
		}
		if words == 0 {
			return nil
		}
		return ui.SomeHandles(cmd, args)
	}}
}

// end returns this end of a move.
func end(f *ui.Factory, s *supervisor.Supervisor) *move.End {
	e := &move.End{Supervisor: s, Version: f.Version}
	in := s.Project.Store
	if in.Exists() && services.HasMemory(in) {
		e.Export = func(ctx context.Context, handle agent.Handle, to io.Writer) error {
			m, err := services.OpenMemory(ctx, in, false)
			if err != nil {
				return err
			}
			defer m.Close()
			_, err = m.Export(ctx, to, handle.Same)
			return err
		}
	}
	e.Import = func(ctx context.Context, from io.Reader) error {
		m, err := services.OpenMemory(ctx, in, true)
		if err != nil {
			return err
		}
		defer m.Close()
		_, _, err = m.Import(ctx, from)
		return err
	}
	return e
}

func runGive(ctx context.Context, f *ui.Factory, handle agent.Handle, o stepOptions) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	e := end(f, s)
	if o.look {
		ask, err := e.Look(ctx, handle, o.force)
		if err != nil {
			return err
		}
		return f.PrintJSON(ask)
	}
	g := move.Giving{Handle: handle, ID: o.id, To: o.to, PlaceID: o.place, From: o.from, Command: o.command, Force: o.force}
	if err := json.NewDecoder(f.Streams.In).Decode(&g.Room); err != nil {
		return fail.Errorf(fail.BadInput, "read what the other machine has: %w", err)
	}
	return e.Give(ctx, g, f.Streams.Out)
}

func runTake(ctx context.Context, f *ui.Factory, o stepOptions) error {
	if o.check {
		s, err := f.Planner()
		if err != nil {
			return err
		}
		var ask move.Ask
		if err := json.NewDecoder(f.Streams.In).Decode(&ask); err != nil {
			return fail.Errorf(fail.BadInput, "read what comes: %w", err)
		}
		room, err := end(f, s).Check(ctx, ask)
		if err != nil {
			return err
		}
		return f.PrintJSON(room)
	}
	if o.drop {
		s, err := f.Planner()
		if err != nil {
			return err
		}
		return errors.Join(end(f, s).Drop(o.id), forgetJobs("take", o.id))
	}
	s, err := f.NewProject()
	if err != nil {
		return err
	}
	taken, err := end(f, s).Take(ctx, o.id, f.Streams.In)
	if err != nil {
		return err
	}
	return f.PrintJSON(taken)
}

func runLeave(ctx context.Context, f *ui.Factory, handle agent.Handle, o stepOptions) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	e := end(f, s)
	switch {
	case o.lost:
		_, err := s.Reclaim(ctx, handle)
		return err
	case o.cancel:
		was, err := s.Unmove(ctx, handle)
		if err != nil {
			return err
		}
		_ = forgetJobs("give", was.ID) // what stays is swept later
		return f.PrintJSON(was)
	case o.done:
		return errors.Join(e.Done(o.id), forgetJobs("give", o.id))
	}
	gone, err := e.Leave(ctx, handle, o.id, o.digest)
	if err != nil {
		return err
	}
	return f.PrintJSON(gone)
}

// forgetJobs removes what this machine has printed or read as a step of a move: it was a package, and was used.
func forgetJobs(step, id string) error {
	own, err := ownJobs()
	if err != nil {
		return err
	}
	return own.Forget(func(r jobs.Request) bool {
		return len(r.Args) > 1 && r.Args[0] == "host" && r.Args[1] == step && slices.Contains(r.Args, id)
	})
}

func runArrive(ctx context.Context, f *ui.Factory, handle agent.Handle, o stepOptions) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	a := move.Arriving{Handle: handle, ID: o.id, Digest: o.digest, From: o.from}
	if !o.noStart {
		a.Resume = &supervisor.Resume{Start: launch.Start{Wait: ui.ReadyWait, Patience: true, Trust: o.trust, Progress: f.Progress(handle)}}
	}
	settled, err := end(f, s).Arrive(ctx, a)
	if err != nil && settled.Record.Handle == "" {
		return err
	}
	settled.Record.Exits = nil
	if settled.Record.Handle != "" {
		err = errors.Join(err, forgetJobs("take", o.id))
	}
	return errors.Join(err, f.PrintJSON(settled)) // it has arrived, even if it could not be started
}
