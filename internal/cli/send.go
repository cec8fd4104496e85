package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/inspect"
	"nbs-worker/internal/message"
	"nbs-worker/internal/supervisor"
	"nbs-worker/internal/wire"
)

type sendOptions struct {
	selection

	message message.Message
	text    string // as it was given: "-" for standard input
	file    string
}

func newSendCmd(f *factory) *cobra.Command {
	o := &sendOptions{}
	cmd := &cobra.Command{
		Use:   "send {<handle>... | --all} {TEXT | - | --file FILE}",
		Short: "Write to agents, and tell whether it arrived",
		Long: withCodes(`Types the text into the agent's prompt when that is ready, and proves by the agent's
transcript that it arrived. The last argument is the text, - for standard input. The
receipt is one of:

  accepted  it stands in the transcript, as the words of the user
  queued    Claude has it, and takes it up after the turn that it is in
  held      nothing was submitted: it waits for a person, or somebody's unsent draft is
            in the prompt (8), it does not run (5), or its turn did not end in time (3)
  unknown   it was submitted, and no proof came in time (3); the same text again is looked
            for and not typed, but with --force

With --queue what would be held is kept in the agent's outbox instead, and the launcher
types it when the agent is ready; an agent at work is not waited for. The receipt is held
then, with the exit code 0 and the id in the outbox. What waits there is not overtaken: it
is typed first, and a message without --queue is held (8) where that cannot be done. That a
person ends a turn with Escape, Claude does not say: what waits goes on waiting then, until
the next turn ends or the next message is sent.

An agent at work is waited for, up to --timeout. Nothing is ever typed into a dialog, a
shell or a draft. What is longer than 780 characters, has tabs, or does not fit on the agent's
screen, goes by a private file, .nbs/messages/*.md, which stays for 30 days; one typed
line names it.
What Claude would take for an order to itself, such as /compact, !ls or exit, is refused
(4): --by-file has it read as words, --raw gives a command of Claude's own to it.
A command that starts no turn leaves no trace to prove it by: its receipt is unknown.

What an agent sends says so above its text, by its name in the records: only a person's
words arrive as the user's own. An agent gives no commands with --raw (8).

--wait-reply waits for the end of that very turn and prints the agent's last words in it;
a turn that failed or was interrupted ends it with 1, one that waits for a person with 8.
Beside accepted, 1, 3 and 8 are of the reply. --json prints an array.`,
			agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Conflict, agent.Unfit, agent.Partial, agent.Held, agent.Interrupted),
		Example: `  nbs-worker send theologian 'Read PLAN.md again, chapter 2 has changed.'
  nbs-worker send theologian 'What is left to do?' --wait-reply --timeout 10m
  nbs-worker send scout gatekeeper - <notes.md
  nbs-worker send --all --file ANNOUNCEMENT.md --queue
  nbs-worker send theologian /compact --raw
  nbs-worker send theologian 'Go on.' --json | jq -r '.[0].receipt'`,
		Args:              o.positional,
		ValidArgsFunction: f.handlesWhere(whoRuns),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSend(cmd.Context(), f, o)
		},
	}
	o.bind(f, cmd)
	return cmd
}

func (o *sendOptions) bind(f *factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.file, "file", "", "read the text from this file")
	flags.BoolVar(&o.all, "all", false, "all other agents of the project that should run")
	flags.BoolVar(&o.message.Raw, "raw", false, "the text is a command of Claude's own")
	flags.BoolVar(&o.message.ByFile, "by-file", false, "hand the text over in a file, whatever its length")
	flags.BoolVar(&o.message.Queue, "queue", false, "keep in the agent's outbox what cannot be submitted now")
	flags.BoolVar(&o.message.Force, "force", false, "type it again, though its last receipt was unknown")
	flags.BoolVar(&o.message.Reply, "wait-reply", false, "wait for the answer and print it")
	flags.DurationVar(&o.message.Timeout, "timeout", 10*time.Minute, "give up waiting for the prompt, or for the answer, after this time; 0: never")
	f.withJSON(cmd)
	cmd.MarkFlagsMutuallyExclusive("raw", "by-file")
	cmd.MarkFlagsMutuallyExclusive("raw", "wait-reply")
	cmd.MarkFlagsMutuallyExclusive("queue", "raw")
	cmd.MarkFlagsMutuallyExclusive("queue", "wait-reply")
	cmd.MarkFlagsMutuallyExclusive("queue", "force")
}

// positional takes the text off the handles.
func (o *sendOptions) positional(cmd *cobra.Command, args []string) error {
	switch {
	case cmd.Flags().Changed("file"):
		if o.file == "" {
			return agent.Errorf(agent.BadInput, "send: --file needs a name").Hint("nbs-worker send --help")
		}
	case len(args) == 0 || len(args) == 1 && !o.all:
		return agent.Errorf(agent.BadInput, "send: a text is needed").
			Hint("for example: nbs-worker send HANDLE 'What is left to do?'")
	default:
		o.text, args = args[len(args)-1], args[:len(args)-1]
	}
	if o.message.Timeout < 0 {
		return agent.Errorf(agent.BadInput, "send: --timeout %s is negative", o.message.Timeout).Hint("0 waits as long as it takes")
	}
	return o.selection.positional(cmd, args)
}

// readText reads the text, a file only after a check that the caller may: an agent must not learn
// which files there are.
func (o *sendOptions) readText(f *factory, s *supervisor.Supervisor) (err error) {
	switch {
	case o.file == "-" || o.text == "-":
		o.message.Text, err = readText("the text from", "-", f.streams.In)
	case o.file == "":
		o.message.Text = o.text
	default:
		if err = s.CheckFile(o.file); err == nil {
			o.message.Text, err = readText("file", o.file, f.streams.In)
		}
	}
	return err
}

func runSend(ctx context.Context, f *factory, o *sendOptions) error {
	s, err := f.supervisor()
	if err != nil {
		return failed(err, "send")
	}
	if err := o.readText(f, s); err != nil {
		return failed(err, "send")
	}
	handles, err := o.resolve(ctx, s, func(row inspect.Row) bool {
		return row.Record.LaunchDesired() == agent.DesiredRunning && !s.IsCaller(row.Handle)
	})
	if err != nil {
		return failed(err, "send")
	}
	if len(handles) == 0 {
		return failed(agent.Errorf(agent.NotFound, "no agent of the project should run").Hint("to see the agents: nbs-worker list"), "send")
	}
	sender := message.Sender{Supervisor: s}
	return f.each(ctx, "send", handles, o.several() || f.json, len(handles), func(handle agent.Handle) (outcome, error) {
		receipt, err := sender.Send(ctx, handle, o.message)
		return f.received(receipt, o, err), err
	})
}

// received is what is printed of a receipt. Without --json that is nothing for one that was held: the
// error says why.
func (f *factory) received(receipt message.Receipt, o *sendOptions, err error) outcome {
	switch {
	case f.json:
		return outcome{json: wire.NewReceipt(receipt, err)}
	case receipt.Word == message.Held && receipt.Outbox == "":
		return outcome{}
	case receipt.Word == message.Held:
		return outcome{json: receipt, handle: receipt.Handle, words: "held in the outbox: " + receipt.Reason}
	}
	made := outcome{json: receipt, handle: receipt.Handle, words: fmt.Sprintf("%s (%s)", receipt.Word, receipt.Channel)}
	if receipt.Answer != nil {
		made.print = func() error { return f.printReply(receipt, o.several()) }
	}
	return made
}

func (f *factory) printReply(receipt message.Receipt, several bool) error {
	if several {
		if _, err := fmt.Fprintf(f.streams.Out, "==> %s <==\n", receipt.Handle); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(f.streams.Out, agent.Legible(*receipt.Answer))
	return err
}
