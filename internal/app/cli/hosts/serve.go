package hosts

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/store/jobs"
	"nbs-worker/internal/store/trust"
)

func newServeCmd(f *ui.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Run the commands of another machine of yours (started by its nbs-worker)", Hidden: true, Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(serve(cmd.Context(), f), "host serve")
		},
	}
}

func serve(ctx context.Context, f *ui.Factory) error {
	if err := f.CheckPerson("serve other machines"); err != nil {
		return err
	}
	drawer, err := ownJobs()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	server := link.Server{Jobs: drawer, Machine: f.Machine, Program: program, Version: f.Version}
	return server.Serve(ctx, f.Streams.In, f.Streams.Out)
}

// ownJobs returns what this machine does for others.
func ownJobs() (*jobs.Drawer, error) {
	home, err := trust.HomeOf(os.Environ())
	return jobs.Of(home), err
}

func newJobCmd(f *ui.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "job ID", Short: "Run one command of another machine (started by host serve)", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runJob(cmd.Context(), f, args[0])
		},
	}
}

// runJob runs a job in this process. Stdin, stdout and stderr are already its files.
func runJob(ctx context.Context, f *ui.Factory, id string) error {
	if err := f.CheckPerson("run a command of another machine"); err != nil {
		return ui.Failed(err, "host job")
	}
	f.Close()
	drawer, err := ownJobs()
	if err != nil {
		return ui.Failed(err, "host job")
	}
	job, err := drawer.Find(id)
	if err != nil {
		return ui.Failed(err, "host job")
	}
	self, err := f.Machine.Self()
	if err != nil {
		return ui.Failed(err, "host job")
	}
	finish, err := job.Begin(ctx, self)
	if errors.Is(err, jobs.ErrBegun) {
		return nil
	}
	if err != nil {
		return ui.Failed(err, "host job")
	}
	code := executeJob(ctx, f, job)
	if err := finish(code); err != nil {
		return ui.Failed(err, "host job")
	}
	return ui.ExitError(code)
}

// executeJob runs the command of a job in its project's folder, and returns its exit code.
func executeJob(ctx context.Context, f *ui.Factory, job *jobs.Job) int {
	if !job.Keep {
		ctx = job.WhileRead(ctx, job.Patience(), jobs.SpoolLimit)
	}
	home, err := os.UserHomeDir()
	if err == nil {
		err = os.Chdir(home)
	}
	if err == nil && job.Folder != "" {
		err = os.Chdir(job.Folder)
	}
	if err != nil {
		return f.Report(ui.Failed(fail.Errorf(fail.NotFound, "the project of this host: %w", err).
			Hint("to see what is wrong: nbs-worker host check %s", job.As), job.Args[0]))
	}
	streams := f.Streams
	streams.Host, streams.Room, streams.Width, streams.Color = job.As, job.Room, job.Width, job.Color
	streams.OutTTY = job.Width > 0
	streams.ErrTTY = streams.OutTTY // a person reads there what is no result
	code := f.Execute(ctx, job.Args, streams)
	if why, is := errors.AsType[*fail.Error](context.Cause(ctx)); is && why.Kind == fail.Failed {
		return f.Report(ui.Failed(why, job.Args[0]))
	}
	return code
}
