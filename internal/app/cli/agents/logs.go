package agents

import (
	"context"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/history"
)

type logsOptions struct {
	history.LogQuery
	ui.Past
	grep    string
	session string
}

func newLogsCmd(f *ui.Factory) *cobra.Command {
	var opts logsOptions
	cmd := &cobra.Command{
		Use:   "logs <handle>",
		Short: "Show what was said in an agent's conversation",
		Long: ui.WithCodes(`Prints the conversation from Claude's transcript: when, who (you or agent), and the text. API
errors and compactions are marked. If the conversation has branches, because a prompt was taken
back or two claudes forked it, logs shows the one that Claude would continue, and notes the
others on stderr.

--tools adds what tools and subagents did and what Claude inserted. --all begins with the
agent's previous conversations; --session-id shows only one of them. --follow waits for new
messages, also in the next conversation; it ends with 0 when the agent is dismissed, and with 130
when its reader leaves.

Details:

--json prints one object per line: session_id, at, who (you, agent, tool, claude, compacted,
session), text, and where they apply tool, failure, model, aside, subagent, and bytes. With
bytes, the record was too long to read, and text is its beginning.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker logs theologian -n 20
  nbs-worker logs theologian --follow -n 1
  nbs-worker logs theologian --since 2h
  nbs-worker logs theologian --all --grep '(?i)deadline'
  nbs-worker logs theologian --json | jq -r 'select(.failure) | .at'`,
		Args:              ui.OneHandle,
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.AnyAgent)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if opts.Last, opts.Since, err = opts.Parse(cmd, time.Now()); err != nil {
				return err
			}
			if opts.session != "" {
				if opts.SessionID, err = agent.ParseSessionID(opts.session); err != nil {
					return err
				}
			}
			opts.Handle = agent.Handle(args[0])
			return runLogs(cmd.Context(), f, opts)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&opts.Follow, "follow", "f", false, "wait for new messages")
	opts.Bind(cmd, "messages")
	flags.StringVar(&opts.grep, "grep", "", "only messages whose text matches this Go regular expression")
	flags.BoolVar(&opts.Tools, "tools", false, "also what tools and subagents did, and what Claude added")
	flags.BoolVar(&opts.All, "all", false, "also the agent's previous conversations")
	flags.StringVar(&opts.session, "session-id", "", "only this conversation of the agent")
	cmd.MarkFlagsMutuallyExclusive("session-id", "all")
	cmd.MarkFlagsMutuallyExclusive("session-id", "follow")
	ui.CompleteWith(cmd, "session-id", f.CompleteEarlier)
	return f.WithJSON(cmd)
}

func runLogs(ctx context.Context, f *ui.Factory, opts logsOptions) error {
	if opts.grep != "" {
		match, err := regexp.Compile(opts.grep)
		if err != nil {
			return fail.Errorf(fail.BadInput, "logs: --grep: %w", err).Hint("to search for the literal text: --grep %s", ui.ShellQuote(regexp.QuoteMeta(opts.grep)))
		}
		opts.Match = match
	}
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "logs", string(opts.Handle))
	}
	at := s.Project.Now()
	if opts.Follow {
		ctx = f.Streams.WhileRead(ctx)
	}
	err = history.Logs(ctx, s.Project, opts.LogQuery, history.LogReader{Said: f.PrintSaid, Session: f.PrintLogSession, Note: f.SayNote})
	if err == nil {
		ui.NoteLook(ctx, s, at, opts.Handle)
	}
	return ui.Looked(err, "logs", string(opts.Handle))
}
