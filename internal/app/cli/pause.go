package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/watching"
	"nbs-worker/internal/team/supervisor"
)

func newPauseCmd(f *factory) *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Suspend automatic repairs and restarts until unpause",
		Long: withCodes(`Suspends the automatic actions in the project: watch repairs nothing, and no agent is
started again after a crash. A repair in progress is completed. Running agents are left
alone, and commands still work: resume, recover, stop and the others. The pause is on disk;
a reboot does not end it. list, session and doctor report it, and watch still tells what
needs a person. Pausing again sets another reason. An agent needs --may-manage for this (8).`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Held, fail.Interrupted),
		Example: `  nbs-worker pause
  nbs-worker pause --reason 'moving the project to another disk'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return failed(runPause(cmd.Context(), f, reason), "pause")
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; shown wherever the pause is shown")
	return f.withJSON(cmd)
}

func newUnpauseCmd(f *factory) *cobra.Command {
	return f.withJSON(&cobra.Command{
		Use:   "unpause",
		Short: "End a pause",
		Long: withCodes(`Ends the pause of the project: watch repairs agents again, and restart policies start
agents again. The exit code is 0 also when there was no pause. An agent needs
--may-manage for this (8).`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Held, fail.Interrupted),
		Example: `  nbs-worker unpause`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return failed(runUnpause(cmd.Context(), f), "unpause")
		},
	})
}

func runPause(ctx context.Context, f *factory, reason string) error {
	s, err := f.supervisor()
	if err != nil {
		return err
	}
	pause, err := s.Pause(ctx, reason)
	if err != nil {
		return err
	}
	if f.json {
		return f.printJSON(wire.NewPause(&pause))
	}
	f.note("paused: nothing is done by itself until nbs-worker unpause")
	return nil
}

func runUnpause(ctx context.Context, f *factory) error {
	s, err := f.supervisor()
	if err != nil {
		return err
	}
	was, err := s.Unpause(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return f.printJSON(wire.NewPause(nil))
	}
	if !was {
		f.note("it was not paused")
	}
	return nil
}

// notePause adds a note to the output if the project is paused.
func (f *factory) notePause(s *supervisor.Supervisor) {
	pause, err := s.Store.Watching().Paused()
	if err != nil {
		f.sayNote(err.Error())
		return
	}
	if pause != nil {
		f.sayNote(f.pasteable(f.pauseWords(pause) + "; to end it: nbs-worker unpause"))
	}
}

func (f *factory) pauseWords(pause *watching.Pause) string {
	words := fmt.Sprintf("paused, since %s: nothing is done by itself", f.when(pause.Since))
	if why := pause.Words(); why != "" {
		words += " (" + oneLine(why) + ")"
	}
	return words
}
