package crew

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/compose"
)

func newDiffCmd(f *ui.Factory) *cobra.Command {
	o := &teamOptions{}
	cmd := &cobra.Command{
		Use:   "diff [<handle>... | @GROUP...]",
		Short: "Compare the agents with the team file",
		Long: ui.WithCodes(`Shows where the agents differ from team.yaml, one difference a line.

  missing  the file has the agent, and there is no record
  extra    there is a record, and the file does not have the agent
  changed  a field of the record differs from the file
  drifted  the running process differs from its record

The last column is what puts the difference right: up; restart; a new conversation, as with
resume --fresh; or another agent, after a dismiss. What the file does not say is as spawn has it.

Exit code 0 means that all agents are as the file says, 1 that some are not. diff changes
nothing, and the file needs no seal.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Partial, fail.Interrupted),
		Example: `  nbs-worker diff
  nbs-worker diff --json | jq -r '.[] | select(.is != "equal").handle'`,
		Args:              o.positional,
		ValidArgsFunction: completeNames(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			equal, err := runDiff(cmd.Context(), f, o)
			if err == nil && !equal {
				return ui.ExitError(fail.Failed)
			}
			if err != nil && fail.KindOf(err) == fail.Failed { // 1 means that something differs
				err = fail.Errorf(fail.Unfit, "%w", err)
			}
			return ui.Failed(err, "diff")
		},
	}
	cmd.Flags().StringVar(&o.file, "file", "", "the team file, in the project (default: team.yaml in the project root)")
	return f.WithJSON(cmd)
}

func runDiff(ctx context.Context, f *ui.Factory, o *teamOptions) (equal bool, err error) {
	s, err := f.Planner()
	if err != nil {
		return false, err
	}
	team, _, err := o.read(s)
	if err != nil {
		return false, err
	}
	diffs, err := team.Diffs(ctx, o.Names)
	if err != nil {
		return false, err
	}
	equal = true
	var unknown error
	all := []wire.TeamDiff{}
	for i := range diffs {
		d := &diffs[i]
		equal = equal && d.Equal()
		all = append(all, wire.NewTeamDiff(d))
		if d.Err != nil {
			unknown = fmt.Errorf("%s: %w", d.Handle, d.Err)
		}
	}
	if f.JSON {
		err = f.PrintJSON(all)
	} else {
		err = printDiffs(f, diffs)
	}
	if err == nil {
		err = unknown
	}
	return equal, err
}

// takesWords says what puts a difference right.
var takesWords = map[compose.Taking]string{
	compose.TakesUp: "restart, or up if it does not run", compose.TakesRestart: "restart, or up if it does not run",
	compose.TakesFresh: "a new conversation", compose.TakesNew: "another agent",
}

func printDiffs(f *ui.Factory, diffs []compose.Diff) error {
	t := f.NewTable("AGENT", "IS", "FIELD", "NOW", "FILE", "TAKES")
	row := func(d *compose.Diff, cells ...string) {
		t.Row(ui.Text(string(d.Handle)), ui.Text(cells[0]), ui.Text(cells[1]), ui.Text(ui.OneLine(cells[2])), ui.Text(ui.OneLine(cells[3])), ui.Text(cells[4]))
	}
	different := false
	for i := range diffs {
		d := &diffs[i]
		different = different || !d.Equal()
		switch {
		case d.Missing:
			row(d, "missing", "", "", "", "up")
		case d.Extra:
			row(d, "extra", "", "", "", "")
		case d.Err != nil:
			row(d, "unknown", "", "", "", "")
		}
		for _, c := range d.Fields {
			row(d, "changed", c.Field, c.From, c.To, takesWords[c.Takes])
		}
		for _, drift := range d.Drift {
			row(d, "drifted", drift.Field, drift.Live, drift.Recorded, "restart")
		}
	}
	if !different {
		f.Note("all agents are as the team file says")
		return nil
	}
	return t.Flush()
}
