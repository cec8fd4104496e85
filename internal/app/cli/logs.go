package cli

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/history"
)

type logsOptions struct {
	history.LogQuery
	past
	grep    string
	session string
}

func newLogsCmd(f *factory) *cobra.Command {
	var opts logsOptions
	cmd := &cobra.Command{
		Use:   "logs <handle>",
		Short: "Show what was said in an agent's conversation",
		Long: withCodes(`Shows the conversation from Claude's transcript: when, who (you or agent), and what. It
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
		Args:              oneHandle,
		ValidArgsFunction: once(f.handlesWhere(anybody)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if opts.Last, opts.Since, err = opts.parse(cmd, time.Now()); err != nil {
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
	opts.bind(cmd, "messages")
	flags.StringVar(&opts.grep, "grep", "", "only messages whose text matches this Go regular expression")
	flags.BoolVar(&opts.Tools, "tools", false, "also what tools and subagents did, and what Claude added")
	flags.BoolVar(&opts.All, "all", false, "also the conversations that the agent was in before")
	flags.StringVar(&opts.session, "session-id", "", "only this conversation of the agent")
	cmd.MarkFlagsMutuallyExclusive("session-id", "all")
	cmd.MarkFlagsMutuallyExclusive("session-id", "follow")
	completeWith(cmd, "session-id", f.completeEarlier)
	return f.withJSON(cmd)
}

func runLogs(ctx context.Context, f *factory, opts logsOptions) error {
	if opts.grep != "" {
		match, err := regexp.Compile(opts.grep)
		if err != nil {
			return fail.Errorf(fail.BadInput, "logs: --grep: %w", err).Hint("to find a text as it is: --grep %s", shellQuote(regexp.QuoteMeta(opts.grep)))
		}
		opts.Match = match
	}
	s, err := f.supervisor()
	if err != nil {
		return failed(err, "logs", string(opts.Handle))
	}
	err = history.Logs(ctx, &s.Observer, opts.LogQuery, history.LogReader{Said: f.printSaid, Session: f.printLogSession, Note: f.sayNote})
	return looked(err, "logs", string(opts.Handle))
}

// toolTextShown is how many bytes of a tool's input or output are shown to people.
const toolTextShown = 2000

func (f *factory) printSaid(m history.Said) error {
	if f.json {
		return f.printJSON(wire.NewSaid(m))
	}
	who, colour, words := string(m.Speaker), dim, m.Text
	switch {
	case m.Failure != "":
		who, colour = "agent, API error "+m.Failure, red
	case m.Speaker == "compacted":
		return f.printRule(f.moment(m.At)+" "+m.Text, yellow)
	case m.Speaker == "you" && !m.Aside:
		colour = cyan
	case m.Speaker == "agent" && !m.Aside:
		colour = green
	case m.Speaker == "tool":
		who, words = strings.TrimSpace("tool "+m.Tool), shortened(m.Text, toolTextShown)
	}
	if m.Subagent {
		who = "subagent, " + who
	}
	if m.Bytes > 0 {
		words += fmt.Sprintf(" [... cut: a record of %s]", human.Bytes(uint64(m.Bytes)))
	}
	words = indented(human.Legible(strings.TrimRight(words, "\n")))
	_, err := fmt.Fprintf(f.streams.Out, "%s %s %s\n", f.moment(m.At), f.coloured(colour, oneLine(who)+":"), words)
	return err
}

// moment formats the time at the start of a line.
func (f *factory) moment(at time.Time) string {
	switch {
	case at.IsZero():
		return "-"
	case f.streams.OutTTY:
		return at.Local().Format(time.DateTime)
	default:
		return at.UTC().Format(time.RFC3339)
	}
}

// shortened cuts a text, and marks the cut.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s [... and %s bytes more]", text[:end], human.Thousands(len(text)-end))
}

// printLogSession prints the heading of a conversation, before its messages.
func (f *factory) printLogSession(s history.LogSession) error {
	words := "conversation " + string(s.SessionID)
	if !s.Until.IsZero() {
		words += ", until " + s.Until.UTC().Format(time.RFC3339)
	}
	if s.Reason != "" {
		words += " (" + human.Word(s.Reason) + ")"
	}
	if s.Gone {
		words += ": no transcript"
	}
	if f.json {
		return f.printJSON(wire.NewSaidSession(s, words))
	}
	return f.printRule(words, yellow)
}

func (f *factory) printRule(words, colour string) error {
	_, err := fmt.Fprintln(f.streams.Out, f.coloured(colour, "---- "+oneLine(words)+" ----"))
	return err
}
