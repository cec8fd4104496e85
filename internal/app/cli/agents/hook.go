package agents

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/team/report"
)

func newHookCmd(f *ui.Factory) *cobra.Command {
	answers, limit := false, time.Duration(0)
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Record what an agent's claude reports in a hook",
		Long: ui.WithCodes(`Claude calls hook with JSON on stdin, since nbs-worker starts each agent with its hooks. It
stores what Claude reports, such as the end of a turn, in .nbs/status/<handle>.json. NBS_HANDLE,
NBS_ROOT and NBS_INVOCATION_ID identify the agent; other callers, such as a claude that the
agent's tools started, are ignored. It prints only the briefing of the start, for Claude to read
as context. It always succeeds, so that it never disturbs the agent; failures are in the
journal.

With --answers it also opens a request for what claude asks, and waits beside claude's dialog
until someone answers it. Then it prints the answer for claude. It prints nothing if the dialog
is answered in the terminal first; a dialog that is left stays.`),
		Example: `  nbs-worker hook < payload.json`,
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			hook, err := report.ReadHook(f.Streams.In)
			_, _ = takeDown(f, cmd.Context(), cmd.Name(), func(ctx context.Context, c report.Caller, opened *store.Store, at time.Time) error {
				briefing, untaken := hook.Briefing(c, opened)
				_, unsaid := io.WriteString(f.Streams.Out, briefing)
				err := errors.Join(untaken, unsaid, hook.Report(ctx, c, opened, at))
				if answers {
					err = errors.Join(err, hook.Wait(ctx, c, opened, at, limit, f.Streams.Out))
				}
				return err
			}, err)
			return nil
		},
	}
	cmd.Flags().BoolVar(&answers, "answers", false, "wait beside claude's dialog for an answer")
	cmd.Flags().DurationVar(&limit, "limit", answersLimit, "how long to wait")
	return cmd
}

// answersLimit is how long a hook waits for an answer. Claude would end it a minute later.
const answersLimit = 12 * time.Hour

func newStatusLineCmd(f *ui.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "statusline",
		Short: "Record what an agent's claude reports to its status line",
		Long: ui.WithCodes(`Claude calls statusline with JSON on stdin, as the status line of each agent. It stores context
use and cost in .nbs/status/<handle>.json. Then it runs your own status line, if you have
configured one, with the same input for at most five seconds, and prints its output. It looks
for yours in the recorded folder and in the configuration of the recorded claude, but not in
files that other users can write, nor in those that --setting-sources excludes. For a caller
that is no recorded agent it runs nothing. It always succeeds; failures are in the journal.`),
		Example: `  nbs-worker statusline < payload.json`,
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			line, err := report.ReadStatusLine(f.Streams.In)
			record, recorded := takeDown(f, cmd.Context(), cmd.Name(), line.Report, err)
			if recorded {
				line.RunUsers(cmd.Context(), f.Machine, &record, f.Streams.Out)
			}
			return nil
		},
	}
}

// takeDown calls take to write into the report of the agent whose claude is calling, unless reading failed (unread). It
// returns the agent's record. Errors go to the journal, not to the agent. If the caller is no recorded agent, it does
// nothing.
func takeDown(f *ui.Factory, ctx context.Context, what string, take func(context.Context, report.Caller, *store.Store, time.Time) error, unread error) (r agent.Record, recorded bool) {
	caller := report.Caller{
		Machine: f.Machine,
		Handle:  agent.Handle(os.Getenv(agent.HandleVariable)), Invocation: agent.Invocation(os.Getenv(agent.InvocationVariable)),
		Root: os.Getenv(agent.RootVariable), ConfigDir: os.Getenv("CLAUDE_CONFIG_DIR"),
	}
	caller.Dir, _ = os.Getwd() // without it, Root is used
	opened, record, err := caller.Open()
	if err != nil {
		return agent.Record{}, false
	}
	if errors.Is(unread, io.ErrUnexpectedEOF) { // its claude was killed while it wrote
		return record, true
	}
	f.UseToReport(opened)
	if err = unread; err == nil {
		err = take(ctx, caller, opened, f.Began)
	}
	if err != nil && !errors.Is(err, agent.ErrSuperseded) {
		_ = opened.Complain(ctx, journal.EventOf(&record, f.Began.Truncate(time.Second), "failed", what+": "+err.Error()))
	}
	return record, true
}
