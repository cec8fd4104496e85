package messages

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/wait"
)

type waitOptions struct {
	ui.Selection

	until   []string
	any     bool
	timeout time.Duration

	timeoutGiven bool
}

func newWaitCmd(f *ui.Factory) *cobra.Command {
	o := &waitOptions{}
	cmd := &cobra.Command{
		Use:   "wait {<handle>... | @GROUP... | --all} --for STATE[,STATE]",
		Short: "Wait until agents are idle, gone, or need a person",
		Long: ui.WithCodes(`Returns as soon as the agents are in one of the states of --for, at once if they already are.
wait does not poll: it sleeps until files or processes report a change.

  idle     claude waits for a prompt; after a failed turn wait ends with 1
  done     idle after a turn that ended well, with no background work of
           that turn (shells, subagents) running. An agent without a prompt
           so far is only idle
  failed   idle, and its last turn failed
  ready    idle and logged in: it will answer a prompt
  busy     it works, or retries after an error of the API
  waiting  it asks a person: a permission, a question, a first-run dialog
  needs    it needs a person, for any reason of nbs-worker help states: it
           waits, is down or short, or is done and no person has looked
  gone     it ended, for any reason, or was dismissed
  context-below=25%  less than 25% of its context is left

Details:

An agent that runs as a job of Slurm on another machine is looked at again after 1, 2, 4 ... 30
seconds.

An agent that asks a person is not idle: to notice that too, add --for waiting and read the
printed state. wait follows an agent that is resumed. If an agent is gone, wait ends with 1,
unless --for gone. Several agents must be in such a state at the same time, or with --any one of
them. There is one exit code for all agents, never 7.

wait prints a line for each agent in such a state, separated by tabs: handle, state, cause and,
if it asks a person, the question and the choices; with --for needs, the reason is the fifth
field. --json prints all agents. When an agent calls,
the default --timeout is 90s, since its shell ends a command after two minutes.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Unfit, fail.Interrupted),
		Annotations: ui.Usual("for all any timeout json"),
		Example: `  nbs-worker wait theologian --for idle --timeout 10m
  nbs-worker wait theologian --for done,waiting | cut -f2
  nbs-worker wait scout gatekeeper --any --for gone,context-below=15%
  nbs-worker wait --all --any --for needs
  nbs-worker wait theologian --for ready --json | jq -r '.[0].state'`,
		Args:              o.Positional,
		ValidArgsFunction: f.SelectionWhere(ui.Running),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.timeoutGiven = cmd.Flags().Changed("timeout")
			return ui.Failed(runWait(cmd.Context(), f, o), "wait")
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.until, "for", nil, "one of these states, or several separated by commas")
	flags.BoolVar(&o.any, "any", false, "one of the agents is enough")
	flags.BoolVar(&o.All, "all", false, "all agents of the project that should run")
	flags.DurationVar(&o.timeout, "timeout", 0, "give up after this time, such as 90s or 10m (default: never)")
	f.WithJSON(cmd)
	ui.CompleteWith(cmd, "for", cobra.FixedCompletions(append(slices.Clone(wait.Conditions), "context-below="), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runWait(ctx context.Context, f *ui.Factory, o *waitOptions) error {
	wanted, err := o.parse()
	if err != nil {
		return err
	}
	bands, err := ui.ContextBands()
	if err != nil {
		return err
	}
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	if wanted.Handles, err = o.Resolve(ctx, s, func(row inspect.Row) bool { return row.Record.LaunchDesired() == agent.DesiredRunning }); err != nil {
		return err
	}
	if len(wanted.Handles) == 0 {
		return fail.Errorf(fail.NotFound, "no agent of this project should run").Hint("to see the agents: nbs-worker list")
	}
	var shortened bool
	wanted.Bands = bands
	wanted.Timeout, shortened = ui.Patience(s, o.timeoutGiven, o.timeout)
	wanted.NoticeAfter, wanted.Notice = ui.NoticeAfter, func(missing string, hints []string) {
		f.Say("wait: %s; waiting until %s%s", missing, strings.Join(o.until, ","), ui.LimitWords(wanted.Timeout))
		for _, hint := range hints {
			f.Hint("%s", hint)
		}
	}
	agents, err := wait.For(ctx, s.Inspector, wanted)
	if shortened && fail.KindOf(err) == fail.TimedOut {
		err = fail.Errorf(fail.TimedOut, "%w", err).
			Hint("an agent's shell ends a command after two minutes: wait again, or give the shell more time and add --timeout 10m")
	}
	return errors.Join(err, printWaited(f, agents, bands, s.Project.Now()))
}

func (o *waitOptions) parse() (wait.Wanted, error) {
	wanted := wait.Wanted{Any: o.any, Timeout: o.timeout}
	switch {
	case len(o.until) == 0:
		return wanted, fail.Errorf(fail.BadInput, "--for STATE is needed").Hint("for example: nbs-worker wait %s --for idle", o)
	case o.timeout < 0:
		return wanted, fail.Errorf(fail.BadInput, "--timeout %s is negative", o.timeout).Hint("0: no limit")
	}
	for _, text := range strings.Split(strings.Join(o.until, ","), ",") {
		condition, err := wait.ParseCondition(text)
		if err != nil {
			return wanted, err
		}
		wanted.For = append(wanted.For, condition)
	}
	return wanted, nil
}

func printWaited(f *ui.Factory, agents []wait.Waited, bands agent.Bands, now time.Time) error {
	if f.JSON && agents != nil {
		return f.PrintJSON(agent.Mapped(agents, func(a wait.Waited) wire.Waited { return wire.NewWaited(a, bands, now) }))
	}
	t := f.NewTable()
	for _, a := range agents {
		if a.Met {
			word, cause := a.Status.Words()
			cells := []ui.Cell{ui.Text(string(a.Handle)), ui.Text(word), ui.Text(cause)}
			switch {
			case a.Asked != nil:
				cells = append(cells, ui.Text(a.Asked.String()))
			case a.Need != nil:
				cells = append(cells, ui.Text(""))
			}
			if a.Need != nil {
				cells = append(cells, ui.Text(string(a.Need.Reason)))
			}
			t.Row(cells...)
		}
	}
	return t.Flush()
}
