package messages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/changes"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/message"
	"nbs-worker/internal/team/supervisor"
)

type sendOptions struct {
	ui.Selection

	message message.Message
	text    string // as typed: "-" for standard input
	file    string
	about   string // a place in the agent's tree

	timeoutGiven bool
}

func newSendCmd(f *ui.Factory) *cobra.Command {
	o := &sendOptions{}
	cmd := &cobra.Command{
		Use:   "send {<handle>... | @GROUP... | --all} {TEXT | - | --file FILE}",
		Short: "Send a message to agents, and prove that it arrived",
		Long: ui.WithCodes(`Types a text into the prompt of agents, and proves by their transcripts that it arrived. The
last argument is the text, or - for stdin. send waits for a busy agent, and never types into
a dialog, a shell or unsent text. It prints a receipt:

  accepted  the text is in the transcript
  queued    Claude has the text, and reads it after the present turn
  held      nothing was submitted: the agent needs a person or its prompt
            contains unsent text (exit code 8), it does not run (5), or its
            turn did not end in time (3)
  unknown   the text was submitted, and no proof came in time (3). If you
            send the same text again, send looks for it first; --force
            types it again if it has not arrived

Details:

To an agent that runs as a job of Slurm on another machine the text goes by its outbox, and is
typed there by srun. If that cannot be done now, it is taken back. If it is just being typed, the
receipt is unknown, and outbox list shows what becomes of it.

--about FILE:LINE, or FILE:FIRST-LAST, puts a place in the agent's tree before the text, with what
stands there.

--queue puts a text that would be held into the agent's outbox, with exit code 0. The launcher
types it when the agent is ready, usually at once, at the latest some ten seconds later.

--wait-reply waits for the end of the turn and prints the agent's last words. It ends with 1 if
the turn failed or was interrupted, and with 8 if it waits for a person.

A text that is over 780 characters, does not fit the screen, or has tabs or characters that
Claude drops is passed in a private file, which stays for 30 days. A text that Claude would take
for a command, such as /compact, !ls or exit, is refused: --by-file passes it as words, --raw as
a command. A command that starts no turn has the receipt unknown. A message from an agent names
its sender. --json prints an array.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Annotations: ui.Usual("all file queue timeout wait-reply json"),
		Example: `  nbs-worker send theologian 'Read PLAN.md again, chapter 2 has changed.'
  nbs-worker send theologian 'What is left?' --wait-reply --timeout 10m
  nbs-worker send scout gatekeeper - <notes.md
  nbs-worker send --all --file ANNOUNCEMENT.md --queue
  nbs-worker send theologian --about cart/price.go:42 'Round this up.'`,
		Args:              o.positional,
		ValidArgsFunction: f.SelectionWhere(ui.Running),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSend(cmd.Context(), f, o)
		},
	}
	o.bind(f, cmd)
	return cmd
}

func (o *sendOptions) bind(f *ui.Factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.file, "file", "", "read the text from this file")
	flags.StringVar(&o.about, "about", "", "the text is about this place in the agent's tree: FILE:LINE")
	flags.BoolVar(&o.All, "all", false, "all agents of the project that should run, except the caller")
	flags.BoolVar(&o.message.Raw, "raw", false, "the text is a command of Claude's own")
	flags.BoolVar(&o.message.ByFile, "by-file", false, "pass the text in a file, whatever its length")
	flags.BoolVar(&o.message.Queue, "queue", false, "keep the text in the agent's outbox if it cannot be submitted now")
	flags.BoolVar(&o.message.Force, "force", false, "type a text again whose receipt was unknown, if it has not arrived")
	flags.BoolVar(&o.message.Reply, "wait-reply", false, "wait for the answer and print it")
	flags.DurationVar(&o.message.Timeout, "timeout", 10*time.Minute, "give up waiting after this time; 0: never")
	f.WithJSON(cmd)
	cmd.MarkFlagsMutuallyExclusive("raw", "by-file")
	cmd.MarkFlagsMutuallyExclusive("raw", "wait-reply")
	cmd.MarkFlagsMutuallyExclusive("raw", "about")
	cmd.MarkFlagsMutuallyExclusive("queue", "raw")
	cmd.MarkFlagsMutuallyExclusive("queue", "wait-reply")
	cmd.MarkFlagsMutuallyExclusive("queue", "force")
}

// positional separates the text from the handles.
func (o *sendOptions) positional(cmd *cobra.Command, args []string) error {
	switch {
	case cmd.Flags().Changed("file"):
		if o.file == "" {
			return fail.Errorf(fail.BadInput, "send: --file needs a name").Hint("nbs-worker send --help")
		}
	case len(args) == 0 || len(args) == 1 && !o.All:
		return fail.Errorf(fail.BadInput, "send: a text is needed").
			Hint("for example: nbs-worker send HANDLE 'What is left to do?'")
	default:
		o.text, args = args[len(args)-1], args[:len(args)-1]
	}
	o.timeoutGiven = cmd.Flags().Changed("timeout")
	if o.message.Timeout < 0 {
		return fail.Errorf(fail.BadInput, "send: --timeout %s is negative", o.message.Timeout).Hint("0: no limit")
	}
	err := o.Selection.Positional(cmd, args)
	if refused, ok := errors.AsType[*fail.Error](err); ok && len(args) > 1 && !o.All {
		return refused.Hint(inQuotes, ui.LineQuote(args[0]))
	}
	return err
}

// inQuotes is the hint for a text that was probably given without quotes.
const inQuotes = "put a text of several words in quotes: nbs-worker send %s 'TEXT'"

// unquoted refuses a multi-word text without quotes, since only its last word would reach the agent. That is the case
// if the first handle is an agent's, the later ones are not, and not all of those resemble one.
func (o *sendOptions) unquoted(s *supervisor.Supervisor) error {
	if o.All || o.file != "" || len(o.Handles) < 2 {
		return nil
	}
	agents, _ := s.Project.Store.Handles() // an error is reported for each agent
	isAgent := func(handle agent.Handle) bool { return slices.ContainsFunc(agents, handle.Same) }
	isWord := func(handle agent.Handle) bool { return handle.Nearest(agents) == "" }
	first, others := o.Handles[0], o.Handles[1:]
	if !isAgent(first) || slices.ContainsFunc(others, isAgent) || !slices.ContainsFunc(others, isWord) {
		return nil
	}
	return fail.Errorf(fail.NotFound, "there is no agent %s; nothing was sent", ui.Joined(others)).
		Hint(inQuotes, first).
		Hint("to see the agents: nbs-worker list")
}

func (o *sendOptions) readText(f *ui.Factory, s *supervisor.Supervisor) (err error) {
	switch {
	case o.file == "-" || o.text == "-":
		o.message.Text, err = ui.ReadText("the text from", "-", f.Input())
	case o.file == "":
		o.message.Text = o.text
	default:
		o.message.Text, err = f.ReadFile(s, "file", "--file", o.file)
	}
	return err
}

// addPlace puts the place that the text is about before it. For an agent that may not have files read, only its name.
func (o *sendOptions) addPlace(ctx context.Context, s *supervisor.Supervisor) error {
	if o.about == "" {
		return nil
	}
	if o.Several() {
		return fail.Errorf(fail.BadInput, "--about is for one agent: each has a tree of its own")
	}
	place, err := changes.ParsePlace(o.about)
	if err != nil {
		return err
	}
	r, err := s.Project.Store.Load(o.Handles[0])
	if err != nil {
		return err
	}
	line, report := "", s.Project.Store.Report(r.Handle)
	if s.Caller.CheckFile("about", place.File) == nil {
		if line, err = place.Read(ctx, &r, &report); err != nil {
			return err
		}
	}
	o.message.Text = place.In(line, o.message.Text)
	return nil
}

func runSend(ctx context.Context, f *ui.Factory, o *sendOptions) error {
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "send")
	}
	if err := o.readText(f, s); err != nil {
		return ui.Failed(err, "send")
	}
	handles, err := o.Resolve(ctx, s, func(row inspect.Row) bool {
		return row.Record.LaunchDesired() == agent.DesiredRunning && !s.Caller.Is(row.Handle)
	})
	if err != nil {
		return ui.Failed(err, "send")
	}
	if len(handles) == 0 {
		return ui.Failed(fail.Errorf(fail.NotFound, "no agent of this project should run").Hint("to see the agents: nbs-worker list"), "send")
	}
	if err := cmp.Or(o.unquoted(s), o.addPlace(ctx, s)); err != nil {
		return ui.Failed(err, "send")
	}
	sender := f.NewSending(s, o.message, o.timeoutGiven)
	return f.Each(ctx, "send", handles, o.Several(), len(handles), func(handle agent.Handle) (ui.Outcome, error) {
		at := s.Project.Now()
		receipt, err := sender.To(ctx, handle)
		switch {
		case err != nil:
		case receipt.Answer != nil: // it is shown
			ui.NoteAnswer(ctx, s, at, handle)
		default:
			ui.NoteLook(ctx, s, at, handle)
		}
		return receivedOutcome(f, receipt, o, err), err
	})
}

// receivedOutcome returns the output for a receipt. Without --json a held message prints nothing: the error states the reason.
func receivedOutcome(f *ui.Factory, receipt message.Receipt, o *sendOptions, err error) ui.Outcome {
	switch {
	case f.JSON && receipt.Word == message.Held && cannotBe(err):
		return ui.Outcome{}
	case f.JSON:
		return ui.Outcome{JSON: wire.NewReceipt(receipt, err)}
	case receipt.Word == message.Held && receipt.Outbox == "":
		return ui.Outcome{}
	case receipt.Word == message.Held:
		return ui.Outcome{JSON: receipt, Handle: receipt.Handle, Words: "held in the outbox: " + receipt.Reason}
	}
	made := ui.Outcome{JSON: receipt, Handle: receipt.Handle, Words: fmt.Sprintf("%s (%s)", receipt.Word, receipt.Channel)}
	if receipt.Answer != nil {
		made.Print = func() error { return printReply(f, receipt, o.Several()) }
	}
	return made
}

// cannotBe reports whether an error means that the request can never succeed: no such agent, or an invalid request.
// Then there is no result, which would read as "try again later".
func cannotBe(err error) bool {
	kind := fail.KindOf(err)
	return err != nil && (kind == fail.NotFound || kind == fail.BadInput || kind == fail.Unfit)
}

func printReply(f *ui.Factory, receipt message.Receipt, several bool) error {
	if several {
		if _, err := fmt.Fprintf(f.Streams.Out, "==> %s <==\n", receipt.Handle); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(f.Streams.Out, human.Legible(*receipt.Answer))
	return err
}
