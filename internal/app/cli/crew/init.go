package crew

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/teamfile"
)

func newTeamCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "team",
		Short: "Explain the team file, and write it",
		Long: ui.WithCodes(teamText,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Held),
		Example: `  nbs-worker team init
  nbs-worker team schema >team.schema.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fail.Errorf(fail.BadInput, "unknown command team %s", human.Quote(args[0])).Hint("nbs-worker team --help")
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTeamInitCmd(f), newTeamSchemaCmd(f))
	return cmd
}

func newTeamInitCmd(f *ui.Factory) *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write the team file from the agents that there are",
		Long: ui.WithCodes(`Writes team.yaml into the project root: all agents of the project, as they are recorded.
nbs-worker diff then finds no difference. The file is allowed, because all of its records are:
an agent that is not allowed is refused. An existing file is not changed.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker team init`,
		Args:    ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(runTeamInit(cmd.Context(), f, file), "team init")
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "another file than team.yaml in the project root")
	return cmd
}

func runTeamInit(ctx context.Context, f *ui.Factory, path string) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	project := s.Project.Store.Project()
	if path == "" {
		path = filepath.Join(project, teamfile.DefaultName)
	} else if path, err = filepath.Abs(path); err != nil {
		return err
	}
	records, err := allowedRecords(s)
	if err != nil {
		return err
	}
	text, err := teamfile.Of(project, records).Format()
	if err == nil {
		_, err = teamfile.Parse(path, text)
	}
	if err != nil {
		return fail.Errorf(fail.BadInput, "an agent cannot be written down: %w", err)
	}
	if err := create(path, text); err != nil {
		return err
	}
	source, err := teamfile.Open(project, path)
	if err != nil {
		return err
	}
	for _, part := range source.Parts() {
		if err := s.AllowFile(ctx, part.Kind, part.Name, part.Text); err != nil {
			return err
		}
	}
	return f.Show(ui.Outcome{Handle: agent.Handle(filepath.Base(path)), Words: "written, with " + human.Count(len(records), "agent")}, "")
}

// allowedRecords returns all records. Errors: NotFound if there are none; Held if one is not allowed.
func allowedRecords(s *supervisor.Supervisor) ([]agent.Record, error) {
	loaded, err := s.Project.Store.Records()
	if err != nil {
		return nil, err
	}
	var records []agent.Record
	for _, l := range loaded {
		err := l.Err
		if err == nil {
			err = s.Project.Store.CheckSeal(&l.Record)
		}
		if err != nil {
			return nil, err
		}
		records = append(records, l.Record)
	}
	if len(records) == 0 {
		return nil, fail.Errorf(fail.NotFound, "there is no agent to write down").Hint("nbs-worker help team")
	}
	return records, nil
}

// create writes a new file. Errors: Conflict if there is one.
func create(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fail.Errorf(fail.Conflict, "there is %s already; it was not changed", human.Quote(path)).
			Hint("to compare it with the agents: nbs-worker diff").
			Hint("to write another file: nbs-worker team init --file PATH")
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
