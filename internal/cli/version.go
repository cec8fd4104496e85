package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
)

func newVersionCmd(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    withCodes("Prints the version of nbs-worker.", agent.Failed, agent.BadInput),
		Example: `  nbs-worker version`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			version := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
			}
			if f.json {
				return failed(f.printJSON(map[string]string{"version": version, "go": runtime.Version()}), "version")
			}
			_, err := fmt.Fprintf(f.streams.Out, "nbs-worker %s %s\n", version, runtime.Version())
			return failed(err, "version")
		},
	}
	f.jsonFlag(cmd)
	return cmd
}
