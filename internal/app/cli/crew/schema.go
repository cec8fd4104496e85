package crew

import (
	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/teamfile"
)

func newTeamSchemaCmd(f *ui.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the team file, for editors",
		Long: ui.WithCodes(`Prints the JSON Schema (2020-12) of team.yaml. With it an editor completes the fields, and marks
wrong ones as you type. In an editor that uses yaml-language-server, name the file of the schema
in its setting yaml.schemas. up, diff and allow check more than the schema says.`,
			fail.Failed, fail.BadInput),
		Example: `  nbs-worker team schema >team.schema.json`,
		Args:    ui.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := f.Streams.Out.Write(teamfile.Schema())
			return ui.Failed(err, "team schema")
		},
	}
}
