package crew

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/compose"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/teamfile"
)

// teamOptions are what the verbs of a team share.
type teamOptions struct {
	compose.Selection

	file string
}

func (o *teamOptions) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.file, "file", "", "the team file, in the project (default: "+teamfile.DefaultName+" in the project root)")
	cmd.Flags().StringArrayVar(&o.Profiles, "profile", nil, "also the agents of this profile; repeatable")
}

// positional checks the names of agents and groups.
func (o *teamOptions) positional(cmd *cobra.Command, args []string) error {
	for _, arg := range args {
		if _, err := agent.ParseHandle(strings.TrimPrefix(arg, "@")); err != nil {
			return fail.Errorf(fail.BadInput, "%s: %w", cmd.Name(), err)
		}
	}
	o.Names = args
	return nil
}

// read reads the team file of a project. Errors: NotFound, BadInput.
func (o *teamOptions) read(s *supervisor.Supervisor) (*compose.Team, *teamfile.Source, error) {
	path := o.file
	if path != "" {
		var err error
		if path, err = filepath.Abs(path); err != nil {
			return nil, nil, err
		}
	}
	project := s.Project.Store.Project()
	source, err := teamfile.Open(project, path)
	if err != nil {
		return nil, nil, err
	}
	home := &compose.Home{Project: project, Prompt: source.Prompt, Variable: os.LookupEnv}
	if home.Model, err = agent.ChooseModel(os.Getenv("NBS_MODEL")); err != nil {
		return nil, nil, err
	}
	home.Mode, err = agent.ParsePermissionMode(cmp.Or(os.Getenv("NBS_PERMISSION_MODE"), string(agent.BypassPermissions)))
	return &compose.Team{Supervisor: s, File: source.File, Home: home}, source, err
}

// allow checks that the user has allowed the team file. On a terminal it has allow show what is not, and ask. Errors:
// Held.
func allow(ctx context.Context, f *ui.Factory, s *supervisor.Supervisor, source *teamfile.Source) error {
	check := s.Project.Store.Allowed().Check
	err := source.Check(check)
	if fail.KindOf(err) != fail.Held || !f.OnTerminal() || !f.Streams.OutTTY || f.JSON {
		return err
	}
	if code := f.Execute(ctx, []string{"allow", "--team", "--file", source.Path, "--root", s.Project.Store.Project()}, f.Streams); code != 0 {
		return ui.ExitError(code)
	}
	return source.Check(check) // of the file as it was read: it may have changed since
}

// look reads the team file, and looks at all agents of the project.
func (o *teamOptions) look(ctx context.Context, s *supervisor.Supervisor) (*compose.Team, *teamfile.Source, func(agent.Handle) compose.Seen, error) {
	team, source, err := o.read(s)
	if err != nil {
		return nil, nil, nil, err
	}
	now, err := seen(ctx, s)
	return team, source, now, err
}

func seen(ctx context.Context, s *supervisor.Supervisor) (func(agent.Handle) compose.Seen, error) {
	if !s.Project.Store.Exists() {
		return compose.SeenOf(nil), nil
	}
	rows, err := s.Inspector.List(ctx)
	return compose.SeenOf(rows), err
}

// handlesOf returns the agents of a plan.
func handlesOf(steps []compose.Step) []agent.Handle {
	return agent.Mapped(steps, func(step compose.Step) agent.Handle { return step.Handle })
}

// startOf returns how an agent of a team is started.
func startOf(f *ui.Factory, handle agent.Handle, trust bool) launch.Start {
	return launch.Start{Wait: ui.ReadyWait, Patience: true, Trust: trust, Progress: f.Progress(handle)}
}

// completeNames completes agents and groups of the team file.
func completeNames(f *ui.Factory) ui.Completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		root, err := f.Founding()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		source, err := teamfile.Open(root, "")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, a := range source.File.Agents {
			names = append(names, string(a.Handle)+"\t"+human.OneLine(a.Description))
		}
		for _, group := range source.File.Groups {
			names = append(names, "@"+group.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
