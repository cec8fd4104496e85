package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
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

// commit returns the commit of the source, or "" if the build did not record it.
func commit() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" })
	if i < 0 {
		return ""
	}
	return info.Settings[i].Value
}

func newVersionCmd(f *ui.Factory) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  ui.WithCodes("Prints the version of nbs-worker. --json adds the system for which it was built, and the commit.", fail.Failed, fail.BadInput),
		Example: `  nbs-worker version
  nbs-worker version --json | jq -r .os`,
		Args: ui.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if f.JSON {
				ours, with, _ := strings.Cut(f.Version, " ")
				return ui.Failed(f.PrintJSON(wire.Version{Version: ours, Go: with, OS: runtime.GOOS, Arch: runtime.GOARCH, Commit: commit()}), "version")
			}
			_, err := fmt.Fprintln(f.Streams.Out, ui.VersionLine(f.Version))
			return ui.Failed(err, "version")
		},
	})
}

func newSchemaCmd(f *ui.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of what --json prints",
		Long: ui.WithCodes(`Prints one JSON Schema (2020-12) with an entry for each verb under "$defs". A verb that takes
several handles prints an array, even for one; so do list, triage and recover. In it, an agent
for which the verb failed has its error. events, logs, watch, list --watch ("list-watch") and
ask --stream print one object per line, all others one object, or an array if they list. A command that is refused as a whole
prints nothing on stdout, or an empty array. "stderr" is what a failed command prints on stderr.`, fail.Failed, fail.BadInput),
		Example: `  nbs-worker schema | jq '."$defs" | keys'`,
		Args:    ui.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := f.Streams.Out.Write(wire.Schema)
			return ui.Failed(err, "schema")
		},
	}
}
