package ops

import (
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/projects"
)

func newProjectCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "project",
		Short: "Show and forget your projects",
		Long: ui.WithCodes(`nbs-worker knows your projects: where each was when an agent was last started or changed there.
list --all-projects looks at all of them. Only you, and no agent, may.

A project whose folder is gone stays known, because its disk may only not be mounted. To forget
it changes nothing in the project; the next change there makes it known again.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Held),
		Example: `  nbs-worker project list
  nbs-worker project forget ~/src/old`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fail.Errorf(fail.BadInput, "unknown command project %s", human.Quote(args[0])).Hint("nbs-worker project --help")
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newProjectListCmd(f), newProjectForgetCmd(f))
	return cmd
}

func newProjectListCmd(f *ui.Factory) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:   "list",
		Short: "List your projects",
		Long: ui.WithCodes(`Prints one line per project: path, state, number of agents, and the time of its last event. The
state is "there", "gone", "moved to" another place, or "closed": it is there and cannot be
opened, and stderr says why. In a pipe the fields are separated by tabs.`,
			fail.Failed, fail.BadInput, fail.Partial, fail.Held),
		Example: `  nbs-worker project list
  nbs-worker project list --json | jq -r '.[]|select(.state=="gone").path'`,
		Args: ui.NoArguments,
		RunE: func(*cobra.Command, []string) error { return runProjectList(f) },
	})
}

func runProjectList(f *ui.Factory) error {
	all, _, err := f.EveryProject("see the user's projects")
	if err != nil {
		return ui.Failed(err, "project list")
	}
	opened := map[string]*ui.OpenProject{}
	for _, p := range all {
		opened[p.Path] = p
	}
	known, err := f.KnownProjects().Known()
	if err != nil {
		return ui.Failed(err, "project list")
	}
	outcome := &ui.Partial{Of: len(known)}
	shown := make([]wire.Project, len(known))
	for i, p := range known {
		agents, err := -1, error(nil)
		if o := opened[p.Path]; o != nil {
			agents, err = agentsOf(o)
		}
		if err != nil {
			err = ui.Failed(err, "project list", p.Path)
			outcome.Failures = append(outcome.Failures, err)
			printErrorOf(f, opened[p.Path], err)
		}
		shown[i] = wire.NewProject(p, agents, err)
	}
	if err := printProjects(f, shown); err != nil {
		return ui.Failed(err, "project list")
	}
	return outcome.Failed()
}

func printErrorOf(f *ui.Factory, p *ui.OpenProject, err error) {
	defer f.Beside(p)()
	f.PrintError("", err)
}

// agentsOf returns the number of agents of a project; -1 with an error.
func agentsOf(p *ui.OpenProject) (int, error) {
	if p.Err != nil {
		return -1, p.Err
	}
	handles, err := p.Project.Store.Handles()
	if err != nil {
		return -1, err
	}
	return len(handles), nil
}

func printProjects(f *ui.Factory, shown []wire.Project) error {
	if f.JSON {
		return f.PrintJSON(shown)
	}
	if len(shown) == 0 {
		f.Note("no projects; start one in a folder of yours: nbs-worker spawn HANDLE")
		return nil
	}
	t := f.NewTable("PROJECT", "STATE", "AGENTS", "LAST EVENT")
	for _, p := range shown {
		state, agents, last := ui.Text(p.State), ui.Text(""), ui.Text("")
		if p.Moved != "" {
			state = ui.Text("moved to " + p.Moved)
		}
		if p.State != "there" {
			state.Colour = ui.Yellow
		}
		if p.Agents != nil {
			agents = ui.Text(strconv.Itoa(*p.Agents))
		}
		if p.Last != nil {
			last = t.Time(*p.Last)
		}
		t.Row(ui.Text(p.Path), state, agents, last)
	}
	return t.Flush()
}

func newProjectForgetCmd(f *ui.Factory) *cobra.Command {
	gone := false
	cmd := &cobra.Command{
		Use:   "forget DIR...",
		Short: "Forget projects",
		Long: ui.WithCodes(`Removes projects from the known ones. Nothing in a project changes: its agents go on, and the
next change there makes it known again. --gone forgets each one whose folder is gone.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Partial, fail.Held),
		Example: `  nbs-worker project forget ~/src/old
  nbs-worker project forget --gone`,
		Args: func(_ *cobra.Command, args []string) error {
			if gone == (len(args) > 0) {
				return fail.Errorf(fail.BadInput, "project forget: name folders, or give --gone").Hint("to see the projects: nbs-worker project list")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error { return runProjectForget(f, args, gone) },
	}
	cmd.Flags().BoolVar(&gone, "gone", false, "those whose folders are gone")
	return cmd
}

func runProjectForget(f *ui.Factory, named []string, gone bool) error {
	if err := f.CheckPerson("forget a project"); err != nil {
		return ui.Failed(err, "project forget")
	}
	drawer := f.KnownProjects()
	if gone {
		known, err := drawer.Known()
		if err != nil {
			return ui.Failed(err, "project forget")
		}
		for _, p := range known {
			if p.Gone != nil {
				named = append(named, p.Path)
			}
		}
	}
	outcome := &ui.Partial{Of: len(named)}
	for _, dir := range named {
		forgotten, err := forget(drawer, dir)
		if err != nil {
			err = ui.Failed(err, "project forget")
			f.PrintError("", err)
			outcome.Failures = append(outcome.Failures, err)
			continue
		}
		f.Note("forgotten: %s", forgotten)
	}
	return outcome.Failed()
}

// forget forgets a project by its path, as typed or with links resolved. Errors: NotFound.
func forget(drawer *projects.Drawer, dir string) (path string, err error) {
	if path, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	err = drawer.Forget(path)
	if real, absent := ui.Absolute(dir); err != nil && absent == nil && real != path {
		return real, drawer.Forget(real)
	}
	return path, err
}
