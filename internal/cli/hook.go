package cli

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/launcher"
	"nbs-worker/internal/store"
	"nbs-worker/internal/supervisor"
)

func newHookCmd(f *factory) *cobra.Command {
	return &cobra.Command{
		Use:   "hook",
		Short: "Take down what an agent's claude says in a hook",
		Long: withCodes(`Claude calls this itself, with JSON on stdin: each agent is started with hooks that do.
What is said there, such as that a turn has ended, is kept in .nbs/status/<handle>.json.
The agent is named by NBS_HANDLE, NBS_ROOT and NBS_INVOCATION_ID; a call of anybody else
is ignored. It prints nothing and always succeeds, so that it never disturbs the agent;
what fails is in the journal.`),
		Example: `  nbs-worker hook < payload.json`,
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.takeDown(cmd.Context(), cmd.Name(), supervisor.Caller.Hook)
			return nil
		},
	}
}

func newStatusLineCmd(f *factory) *cobra.Command {
	return &cobra.Command{
		Use:   "statusline",
		Short: "Take down what an agent's claude says to its status line",
		Long: withCodes(`Claude calls this itself, with JSON on stdin: it is the status line of each agent. How
full the conversation is and what it cost is kept in .nbs/status/<handle>.json. It always
succeeds; what fails is in the journal.`),
		Example: `  nbs-worker statusline < payload.json`,
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.takeDown(cmd.Context(), cmd.Name(), supervisor.Caller.StatusLine)
			return nil
		},
	}
}

// patience is how long a report may take: claude waits for its hooks.
const patience = 3 * time.Second

// takeDown hands what stands on stdin to the report of the agent whose claude calls. Nothing
// that goes wrong is the agent's affair.
func (f *factory) takeDown(ctx context.Context, what string, take takeDownFunc) {
	at := time.Now().UTC()
	caller := supervisor.Caller{
		Handle: agent.Handle(os.Getenv(launcher.HandleVariable)), Invocation: agent.Invocation(os.Getenv(launcher.InvocationVariable)),
		Root: os.Getenv(launcher.RootVariable),
	}
	caller.Dir, _ = os.Getwd() // without one, Root has to do
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	opened, record, err := caller.Open()
	if err != nil {
		_, _ = io.Copy(io.Discard, f.streams.In) // claude should not fail to write
		return
	}
	f.opened = opened
	if err := take(caller, ctx, opened, f.streams.In, at); err != nil {
		_ = opened.Complain(ctx, store.EventOf(&record, at.Truncate(time.Second), "failed", what+": "+err.Error()))
	}
}

type takeDownFunc func(c supervisor.Caller, ctx context.Context, opened *store.Store, in io.Reader, at time.Time) error
