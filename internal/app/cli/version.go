package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// stamped is the version that make has built in; "" for other builds.
var stamped string

// version returns the version of the program.
func version() string {
	if stamped != "" {
		return stamped + " " + runtime.Version()
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version + " " + runtime.Version()
	}
	return "unknown " + runtime.Version()
}

// versionLine returns the version as printed.
func versionLine() string { return "nbs-worker " + version() }

func newVersionCmd(f *factory) *cobra.Command {
	return f.withJSON(&cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    withCodes("Prints the version of nbs-worker.", fail.Failed, fail.BadInput),
		Example: `  nbs-worker version`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if f.json {
				ours, with, _ := strings.Cut(version(), " ")
				return failed(f.printJSON(wire.Version{Version: ours, Go: with}), "version")
			}
			_, err := fmt.Fprintln(f.streams.Out, versionLine())
			return failed(err, "version")
		},
	})
}

func newSchemaCmd(f *factory) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of what --json prints",
		Long: withCodes(`Prints one JSON Schema (2020-12), with an entry for each verb under "$defs". A verb
that takes several handles prints an array, also for one, in which an agent for which it
failed has its error. list, triage and recover print an array too. events, logs, watch and
ask --stream print one object a line, all others one object, or an array where they list. A command that is refused
as a whole, such as triage of an agent that does not exist, prints nothing on stdout or an
empty array. "stderr" is what a failed command prints on stderr.`, fail.Failed, fail.BadInput),
		Example: `  nbs-worker schema | jq '."$defs" | keys'`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := f.streams.Out.Write(wire.Schema)
			return failed(err, "schema")
		},
	}
}

// noArguments refuses all arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fail.Errorf(fail.BadInput, "%s takes no arguments, and %s was given", cmd.Name(), human.Quote(args[0])).Hint("%s --help", cmd.CommandPath())
}
