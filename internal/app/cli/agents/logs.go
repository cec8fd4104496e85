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
		Long: ui.WithCodes(`Shows the conversation from Claude's transcript: when, who (you or agent), and what. It
marks API errors, and the place where the conversation was compacted. Lines after the first
of a message are indented.

A conversation has branches where a prompt was taken back, as by Escape before an answer, or
where two claudes have forked it. logs shows the branch that Claude itself would go on from,
and says on stderr that there are others.

--tools adds what the agent did with tools, and what Claude itself put into the conversation
or left to subagents, marked as such. --all begins with the conversations that the agent was
in before a /clear, a /branch or a fresh start; --session-id shows only one of them.
--follow goes on with new messages. It follows the agent into another conversation and says
so. It ends with 0 when the agent is dismissed, and with 130 when logs is interrupted.

--json prints one object per line: session_id, at, who (you, agent, tool, claude, compacted,
session), text; where they apply tool, failure, model, aside, subagent, and bytes of a
record too long to be read, of which text is the beginning.`,
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
	flags.BoolVarP(&opts.Follow, "follow", "f", false, "go on with new messages")
	opts.Bind(cmd, "messages")
	flags.StringVar(&opts.grep, "grep", "", "only messages whose text matches this Go regular expression")
	flags.BoolVar(&opts.Tools, "tools", false, "also what tools and subagents did, and what Claude added")
	flags.BoolVar(&opts.All, "all", false, "also the conversations that the agent was in before")
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
			return fail.Errorf(fail.BadInput, "logs: --grep: %w", err).Hint("to find a text as it is: --grep %s", ui.ShellQuote(regexp.QuoteMeta(opts.grep)))
		}
		opts.Match = match
	}
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "logs", string(opts.Handle))
	}
	err = history.Logs(ctx, &s.Observer, opts.LogQuery, history.LogReader{Said: f.PrintSaid, Session: f.PrintLogSession, Note: f.SayNote})
	return ui.Looked(err, "logs", string(opts.Handle))
}
