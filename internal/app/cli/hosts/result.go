package hosts

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
)

func newResultCmd(f *ui.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "result NAME ID",
		Short: "Show what became of a command at a host",
		Long: ui.WithCodes(`Prints what a command printed at the host, and ends with its exit code. The command goes on if it
still runs. Use it after a connection was cut: the command that lost it prints the id. A host
keeps a result for a day.`, fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Unfit),
		Example: `  nbs-worker host result build1 0b6c2d3e-6a0f-4a57-9c52-0a9a3f0d9b11`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return fail.Errorf(fail.BadInput, "host result: a host and the id of a request are needed, %d given", len(args)).Hint("nbs-worker host result --help")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			code, err := result(cmd.Context(), f, args[0], args[1])
			return ended(ui.Failed(err, "host result"), code)
		},
	}
}

func result(ctx context.Context, f *ui.Factory, name, id string) (int, error) {
	if err := f.CheckPerson("use other machines"); err != nil {
		return 0, err
	}
	known, err := host.Load(os.Environ())
	if err != nil {
		return 0, err
	}
	h, err := known.Find(name)
	if err != nil {
		return 0, err
	}
	l, err := open(f, h)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Run(ctx, link.Request{ID: id}, link.Streams{Out: f.Streams.Out, Err: f.Streams.Err})
}
