package agents

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/job"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/launcher"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

func newRunCmd(f *ui.Factory) *cobra.Command {
	name := ""
	cmd := &cobra.Command{
		Use:   "run <handle>",
		Short: "Run an agent in this terminal, without tmux, or as a job",
		Long: ui.WithCodes(`Runs the agent of an existing record in this terminal, without tmux, in its conversation. It
ends when claude ends, with claude's exit code, or 128 plus the number of the signal. list,
session and stop work on it as on any other agent. It needs a terminal.

With --job it needs no terminal: it runs the agent in a tmux server of its own, as the main
process of a job of Slurm, Kubernetes or another scheduler, and ends with the agent. SIGTERM
stops the agent. The scheduler must run only one job of the name NAME at a time: if the last
start of this job was on another machine, it counts as ended. nbs-worker export writes such
jobs.

This is also the launcher: spawn and resume have tmux run it.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker run theologian
  nbs-worker run theologian --job slurm/main/nbs-theologian`,
		Args:              ui.OneHandle,
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.Down)),
		RunE: func(cmd *cobra.Command, args []string) error {
			handle := agent.Handle(args[0])
			if cmd.Flags().Changed(lineage.Job) {
				code, err := runJob(cmd.Context(), f, handle, name)
				return ended(code, err, "run", args[0])
			}
			code, err := runRun(cmd.Context(), f, handle)
			return ended(code, err, "run", args[0])
		},
	}
	cmd.Flags().StringVar(&name, lineage.Job, "", "run the agent as the job NAME of a scheduler, in a tmux server of its own")
	return cmd
}

// runJob runs the agent as the main process of a job. The first SIGTERM stops the agent; a second one, which Slurm may
// send to each process of a job, changes nothing.
func runJob(ctx context.Context, f *ui.Factory, handle agent.Handle, name string) (int, error) {
	f.Launches.Store(true)
	s, err := f.Supervisor()
	if err != nil {
		return 0, err
	}
	j := job.Job{
		Supervisor: s, Name: name, Start: launch.Start{Wait: ui.ReadyWait, Patience: true, Progress: f.Progress(handle)},
		Started: func(started supervisor.Started) { f.SayStarted(handle, started) }, Say: f.Say,
	}
	return j.Run(ctx, handle)
}

// ended returns the outcome of a verb that ran claude: claude's exit code, or an error.
func ended(code int, err error, what ...string) error {
	if err == nil && code != 0 {
		return ui.ExitError(code)
	}
	return ui.Failed(err, what...)
}

func runRun(ctx context.Context, f *ui.Factory, handle agent.Handle) (int, error) {
	if id := os.Getenv(agent.LaunchVariable); id != "" {
		return runLaunched(ctx, f, handle, agent.Invocation(id))
	}
	s, err := f.Supervisor()
	if err != nil {
		return 0, err
	}
	ready, err := s.Prepare(ctx, handle, f.Streams.InTTY, f.Progress(handle))
	return runHere(ctx, f, s, handle, ready, err)
}

// runHere runs the launcher in the caller's terminal, unless the agent could not be prepared.
func runHere(ctx context.Context, f *ui.Factory, s *supervisor.Supervisor, handle agent.Handle, ready supervisor.Prepared, unready error) (int, error) {
	f.SayTranscript(handle, ready.Restored, ready.Loss)
	if unready != nil {
		return 0, unready
	}
	return lead(ctx, f, s.Project.Store, handle, ready.Invocation, ready.GiveBack)
}

// runLaunched runs the launcher in a pane. It starts in the project root. It trusts no other part of the environment,
// which the tmux server may have had for days.
func runLaunched(ctx context.Context, f *ui.Factory, handle agent.Handle, id agent.Invocation) (int, error) {
	root, err := ui.Absolute(".")
	if err != nil {
		return 0, err
	}
	opened, err := store.Open(root)
	if err != nil {
		return 0, err
	}
	f.Use(opened)
	return lead(ctx, f, opened, handle, id, nil)
}

// restarter prepares the restarts of a launcher. It uses the environment of each launch, not the pane's.
func restarter(f *ui.Factory, opened *store.Store, program string) supervisor.Restarter {
	return supervisor.Restarter{Project: &observe.Project{
		Store: opened, Machine: f.Machine, Tmux: tmux.New, Program: program, UID: os.Geteuid(), Now: time.Now,
	}}
}

// lead runs the launcher. The launcher ignores the terminal's signals: claude handles them.
func lead(ctx context.Context, f *ui.Factory, opened *store.Store, handle agent.Handle, id agent.Invocation, giveBack func()) (int, error) {
	f.Launches.Store(true)
	debug.SetGCPercent(-1)  // it sleeps, and would wake up every two minutes to collect nothing
	const enough = 64 << 20 // bytes; if it ever needs more, it collects
	debug.SetMemoryLimit(enough)
	program, _ := os.Executable() // without it, claude finds it on the PATH
	l := &launcher.Launcher{
		Store: opened, Machine: f.Machine, Pane: launcher.PaneEnv(), Program: program, Version: f.Release(), Now: time.Now, Restarts: restarter(f, opened, program),
		Tell: func(what string) { f.Say("%s %s", handle, what) }, GiveBack: giveBack,
	}
	return l.Run(context.WithoutCancel(ctx), handle, id)
}
