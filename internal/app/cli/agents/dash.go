package agents

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/dash"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/inspect"
)

type dashOptions struct{ allProjects, bell bool }

func newDashCmd(f *ui.Factory) *cobra.Command {
	o := &dashOptions{}
	cmd := &cobra.Command{
		Use:   "dash",
		Short: "Watch all agents on one screen",
		Long: ui.WithCodes(`Shows the agents on the full screen, those that need you first: what each asks, how long it has
waited, its context and cost; on a wide screen also its model, memory, processor, branch and pull
request. The screen changes when an agent does. Enter goes to an agent's terminal, where tmux says
which keys come back. Space shows its screen, then its conversation. y and N approve or deny the
request that is shown, D shows what an agent has changed, s sends a message, r resumes, x stops,
? lists all keys, q leaves.

An agent asks only in another permission mode than bypassPermissions, which is the default:
nbs-worker spawn HANDLE --permission-mode default.

A verb runs beside the screen; its last words are in the last line. The terminal's title says
how many agents need you; --bell rings when one begins to. --all-projects shows the agents of all
your projects, under the folder of each.

Details:

--hosts adds the agents of your hosts, under the name of each, by one connection to a host. Keys act
at the host, except D. Until all hosts have answered, the first row is selected; the first key
that you press ends that. A key that acts at once does nothing in the second after another agent
was selected without you.

Beside the name of a host stand the limits of your plan there. Memory and processor of its agents
are measured each 30 s while the screen has 120 columns, and the last events are those of its
selected agent while it has 30 lines.

A host that does not answer shows its last rows, with their age and why. It is asked again after
1 s, and later after up to a minute; the key t asks at once. After a refused login only t does. One
that is connected and gives no sign of life for 20 s is silent.

From a script: nbs-worker list --json, or nbs-worker wait.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker dash
  nbs-worker dash --all-projects --bell
  nbs-worker dash --hosts`,
		Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(runDash(cmd.Context(), f, o), "dash")
		},
	}
	cmd.Flags().BoolVar(&o.allProjects, "all-projects", false, "the agents of all your projects")
	cmd.Flags().BoolVar(&o.bell, "bell", false, "ring when an agent begins to need you")
	return cmd
}

func runDash(ctx context.Context, f *ui.Factory, o *dashOptions) error {
	bands, err := ui.ContextBands()
	if err != nil {
		return err
	}
	words := dash.Words{Limits: ui.ShortPlanLimits, Pull: ui.PullRequestWords}
	var hosts []dash.Host
	if f.Hosts {
		if hosts, err = hostsOf(f, o, words); err != nil {
			return err
		}
	}
	inspectors, err := watched(f, o)
	if err != nil && (len(hosts) == 0 || fail.KindOf(err) != fail.NotFound) { // with hosts, this folder needs no project
		return err
	}
	if !f.Streams.InTTY || !f.Streams.OutTTY {
		return fail.Errorf(fail.BadInput, "this is not a terminal").Hint("from a script: nbs-worker list --json")
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	team, err := dash.Follow(inspectors, bands, words)
	if err != nil {
		return err
	}
	source := dash.FollowHosts(ctx, team, hosts)
	defer source.Close()
	options := dash.Options{Program: program, Out: f.Streams.Out, Color: f.Streams.Color, Grouped: o.allProjects || f.Hosts, Bell: o.bell}
	if f.Socket != "" {
		options.Global = []string{"--tmux-socket=" + f.Socket}
	}
	defer f.TakeTerminal()()
	return dash.Show(ctx, source, options)
}

// watched returns what looks at the agents that are shown.
func watched(f *ui.Factory, o *dashOptions) ([]*inspect.Inspector, error) {
	if !o.allProjects {
		s, err := f.Supervisor()
		if err != nil {
			return nil, err
		}
		return []*inspect.Inspector{s.Inspector}, nil
	}
	all, gone, err := f.EveryProject("watch the agents of all projects")
	if err != nil {
		return nil, err
	}
	var inspectors []*inspect.Inspector
	for _, p := range all {
		if p.Err != nil { // it stands above the prompt when the dashboard has left
			f.PrintError("", ui.Failed(p.Err, "dash", p.Path))
			continue
		}
		inspectors = append(inspectors, p.Inspector)
	}
	f.SayGone(gone)
	return inspectors, nil
}
