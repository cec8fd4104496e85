package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/supervisor"
)

type waitOptions struct {
	handles []string
	until   []string
	any     bool
	all     bool
	timeout time.Duration
}

func newWaitCmd(f *factory) *cobra.Command {
	o := &waitOptions{}
	cmd := &cobra.Command{
		Use:   "wait <handle>...",
		Short: "Wait until agents are idle, gone, or short of context",
		Long: withCodes(`Returns as soon as it is so, at once when it is so already. It sleeps meanwhile: files
and processes tell of a change. --for takes one of these; given several times, any will do:

  idle     claude waits for a prompt
  ready    idle, and logged in: it will answer a prompt
  busy     it works, or tries again after an error of the API
  waiting  it asks a person: a permission, a question, a first-run dialog
  gone     it ended, whatever the reason, or was dismissed
  context-below=25%  less than that is left of its context

An agent that asks a person something is not idle: the wait goes on. To be told of
that too, add --for waiting and read the state that is printed. An agent that is brought
back meanwhile is waited for in its new process. One that has gone is not waited for,
except for gone: the wait ends at once with 1.
Several agents have to be so at the same time; with --any one is enough. It prints a
line for each agent that is so: handle, tab, state. With --json it prints one array with
all of them, also when it fails. The answer is one for all handles, never 7.`,
			agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Unfit, agent.Interrupted),
		Example: `  nbs-worker wait theologian --for idle --timeout 10m
  nbs-worker wait theologian --for idle --for waiting | cut -f2
  nbs-worker wait scout gatekeeper --any --for gone --for context-below=15%
  nbs-worker wait theologian --for ready --json | jq -r '.[].state'`,
		Args:              someHandles,
		ValidArgsFunction: f.completeHandles,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.handles = args
			return failed(runWait(cmd.Context(), f, o), "wait")
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.until, "for", nil, "idle, ready, busy, waiting, gone, or context-below=PERCENT; repeatable")
	flags.BoolVar(&o.any, "any", false, "one of the agents is enough")
	flags.BoolVar(&o.all, "all", false, "all agents, at the same time (the default)")
	flags.DurationVar(&o.timeout, "timeout", 0, "give up after this time, such as 90s or 10m (default: never)")
	f.jsonFlag(cmd)
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions( // it fails for an unknown flag only
		[]string{"idle", "ready", "busy", "waiting", "gone", "context-below="}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runWait(ctx context.Context, f *factory, o *waitOptions) error {
	wait, err := o.parse()
	if err != nil {
		return err
	}
	bands, err := contextBands()
	if err != nil {
		return err
	}
	s, err := f.supervisor()
	if err != nil {
		return err
	}
	const little = 32 << 20 // bytes; a wait of days is to collect its garbage, when there is some
	debug.SetMemoryLimit(little)
	agents, err := s.Wait(ctx, wait)
	return errors.Join(err, f.printWaited(agents, bands, s.Now()))
}

// parse checks what was typed.
func (o *waitOptions) parse() (supervisor.Wait, error) {
	wait := supervisor.Wait{Any: o.any, Timeout: o.timeout}
	switch {
	case len(o.until) == 0:
		return wait, agent.Errorf(agent.BadInput, "nothing is waited for").Hint("for example: nbs-worker wait %s --for idle", o.handles[0])
	case o.any && o.all:
		return wait, agent.Errorf(agent.BadInput, "--any and --all exclude each other").Hint("nbs-worker wait --help")
	case o.timeout < 0:
		return wait, agent.Errorf(agent.BadInput, "--timeout %s is negative", o.timeout).Hint("0 waits as long as it takes")
	}
	for _, text := range o.until {
		condition, err := supervisor.ParseCondition(text)
		if err != nil {
			return wait, err
		}
		wait.For = append(wait.For, condition)
	}
	for _, handle := range o.handles {
		same := func(known agent.Handle) bool { return known.Same(agent.Handle(handle)) }
		if !slices.ContainsFunc(wait.Handles, same) {
			wait.Handles = append(wait.Handles, agent.Handle(handle))
		}
	}
	return wait, nil
}

type waitedJSON struct {
	Handle  agent.Handle `json:"handle"`
	State   agent.State  `json:"state"`
	Cause   agent.Cause  `json:"cause,omitempty"`
	Detail  string       `json:"detail,omitempty"`
	Met     bool         `json:"met"`     // it is as it was waited for
	Context *contextJSON `json:"context"` // with context-below
}

func (f *factory) printWaited(agents []supervisor.Waited, bands agent.Bands, now time.Time) error {
	if f.json && agents != nil {
		out := make([]waitedJSON, len(agents))
		for i, a := range agents {
			out[i] = waitedJSON{
				Handle: a.Handle, State: a.Status.State, Cause: a.Status.Cause, Detail: a.Status.Detail,
				Met: a.Met, Context: newContextJSON(a.Context, bands, now),
			}
		}
		return f.printJSON(out)
	}
	for _, a := range agents {
		if !a.Met {
			continue
		}
		if _, err := fmt.Fprintf(f.streams.Out, "%s\t%s\n", a.Handle, strings.Map(blank, sanitize(a.Status.Word()))); err != nil {
			return err
		}
	}
	return nil
}
