package chat

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/supervisor"
)

type askOptions struct {
	key    string
	text   string // as typed: "-" for standard input
	words  string // the text of the turn
	model  string
	prompt string // the system prompt
	file   string // with the system prompt
	stream bool
	fork   bool
	ask    conversations.Request

	timeoutGiven bool
}

func newAskCmd(f *ui.Factory) *cobra.Command {
	o := &askOptions{}
	cmd := &cobra.Command{
		Use:   "ask <key> [TEXT | -] [-- CLAUDE-ARGS...]",
		Short: "Say something in a headless conversation, and print the answer",
		Long: ui.WithCodes(`Takes one turn of the conversation that the key names, such as telegram:123456789 or review,
and prints the answer. The first text begins the conversation. The conversation remembers
all that was said in it, across processes, restarts and machine failures. Without TEXT, or
with -, ask reads standard input; a text that begins with a dash must come from there.
Nothing in a text is a command to Claude.

Turns of one key are taken one at a time, in the order in which they were accepted. Other keys are answered at the same time. An accepted text is on disk: a caller that
is killed loses no text, and the next ask, or nbs-worker serve, goes on with it. If a claude
was killed during a turn, ask looks in the transcript before it says anything again. If
tools were used and there is no answer, a person decides (8), or --on-unknown does: continue
asks for the answer without saying the text again, rerun says the text again. Three failed
attempts hold the key until a person decides. A text with the --id of an earlier text is not
said again: ask prints the stored answer.

The system prompt belongs to the conversation, and Claude gets it at every turn. ask refuses
a different one (5) until nbs-worker conversation reset. --context-cmd runs a program
without a shell. Claude gets its output apart from the text, at most 16 kB per turn.

A failed turn does not lose the conversation. If Claude has lost the conversation, ask
restores it from what is kept. If it cannot, ask fails (2). With --on-lost fresh, ask begins
a new one instead, once, and says so: --json then has "continuity": "reset", else "new" or
"resumed".

--isolated answers without the conversation, which does not remember it. ask @<handle> asks
an agent in its terminal, as nbs-worker send --wait-reply does. With --fork, it asks a copy
of the agent's conversation, and does not disturb the agent. --id, --on-lost, --on-unknown
and --stream are only for a copy.

An agent asks in conversations of its own: its key KEY is agent:HANDLE:KEY. Claude gets the
agent's powers in such a turn, and no more: its permission mode, arguments and folder. An agent
may give a system prompt only with --isolated, and no --context-cmd or CLAUDE-ARGS. Its texts
say who sends them, its --id values are apart from those of its user, and --timeout is at
most 1h.

Only a text that a person types on the command line can name files with @. Claude must trust
the folder before the first turn there (8).`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker ask review 'Remember 42.'
  nbs-worker ask review 'What number?' --json | jq -r .answer
  nbs-worker ask review - --system-prompt 'You review Go code.' --model sonnet <CHANGES.diff
  nbs-worker ask telegram:123456789 'Good morning.' --id update-77 --on-lost fresh
  nbs-worker ask @theologian 'What is left to do?'`,
		Args:              o.positional,
		ValidArgsFunction: completeAsked(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(runAsk(cmd.Context(), f, o), "ask", o.key)
		},
	}
	o.bind(f, cmd)
	return cmd
}

func (o *askOptions) bind(f *ui.Factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.model, "model", "", "model: an alias such as sonnet, or a full name; the first turn sets that of the conversation")
	flags.StringVar(&o.prompt, "system-prompt", "", "system prompt of the conversation")
	flags.StringVar(&o.file, "system-prompt-file", "", "read the system prompt from this file")
	flags.StringVar(&o.ask.ContextCmd, "context-cmd", "", "program whose output Claude gets besides the text")
	flags.BoolVar(&o.ask.Isolated, "isolated", false, "answer without the conversation, and leave it unchanged")
	flags.BoolVar(&o.fork, "fork", false, "with @<handle>: ask a copy of its conversation")
	flags.StringVar(&o.ask.OnLost, "on-lost", conversation.LostFail, "if the conversation is lost: fail, or fresh")
	flags.StringVar(&o.ask.OnUnknown, "on-unknown", "", "if it is unknown how far a turn came: ask, continue or rerun (default ask when tools were used, else continue)")
	flags.StringVar(&o.ask.ID, "id", "", "idempotency key: each is answered only once")
	flags.DurationVar(&o.ask.Timeout, "timeout", conversation.TurnTimeout, "end the turn when there is no answer after this time, and give up when no turn before it goes on for this time; 0: never")
	flags.BoolVar(&o.stream, "stream", false, "print the answer as it arrives")
	f.WithJSON(cmd)
	cmd.MarkFlagsMutuallyExclusive("system-prompt", "system-prompt-file")
	_ = cmd.RegisterFlagCompletionFunc("on-lost", cobra.FixedCompletions([]string{conversation.LostFail, conversation.LostFresh}, cobra.ShellCompDirectiveNoFileComp))
}

// positional separates the key, the text and the arguments after --.
func (o *askOptions) positional(cmd *cobra.Command, args []string) error {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args, o.ask.ClaudeArgs = args[:dash], args[dash:]
	}
	o.timeoutGiven = cmd.Flags().Changed("timeout")
	switch {
	case len(args) == 0:
		return fail.Errorf(fail.BadInput, "ask: the key of a conversation is needed").Hint("for example: nbs-worker ask review 'What is left to do?'")
	case len(args) > 2:
		return fail.Errorf(fail.BadInput, "ask: one text, and not %d", len(args)-1).Hint("put it in quotes: nbs-worker ask %s 'TEXT'", human.ShellWord(args[0]))
	}
	o.key, o.text = args[0], "-"
	if len(args) == 2 {
		o.text = args[1]
	}
	return o.check()
}

// check checks the options. Errors: BadInput.
func (o *askOptions) check() error {
	if name, isAgent := strings.CutPrefix(o.key, "@"); !isAgent {
		if _, err := conversations.ParseKey(o.key); err != nil {
			return err
		}
		if o.fork {
			return fail.Errorf(fail.BadInput, "ask: --fork is for agents").Hint("nbs-worker ask @HANDLE TEXT --fork")
		}
	} else if !o.fork && (o.ask.ID != "" || o.ask.OnLost != conversation.LostFail || o.ask.OnUnknown != "" || o.stream) {
		return fail.Errorf(fail.BadInput, "ask: --id, --on-lost, --on-unknown and --stream are not for an agent in its terminal").
			Hint("to ask a copy: nbs-worker ask @%s TEXT --fork", name)
	}
	if o.ask.OnLost != conversation.LostFail && o.ask.OnLost != conversation.LostFresh {
		return fail.Errorf(fail.BadInput, "ask: --on-lost %s is neither fail nor fresh", human.Quote(o.ask.OnLost)).Hint("nbs-worker ask --help")
	}
	switch o.ask.OnUnknown {
	case "", conversation.UnknownAsk, conversation.UnknownContinue, conversation.UnknownRerun:
	default:
		return fail.Errorf(fail.BadInput, "ask: --on-unknown %s is neither ask, continue nor rerun", human.Quote(o.ask.OnUnknown)).Hint("nbs-worker ask --help")
	}
	if o.ask.Timeout < 0 {
		return fail.Errorf(fail.BadInput, "ask: --timeout %s is negative", o.ask.Timeout).Hint("0 waits as long as it takes")
	}
	if o.model != "" {
		model, err := agent.ChooseModel(o.model)
		if err != nil {
			return err
		}
		o.ask.Model = model
	}
	return conversation.CheckArgs(o.ask.ClaudeArgs)
}

func runAsk(ctx context.Context, f *ui.Factory, o *askOptions) error {
	s, err := f.Planner()
	if err != nil {
		return err
	}
	if err := o.complete(f, s); err != nil {
		return err
	}
	if handle, isAgent := strings.CutPrefix(o.key, "@"); isAgent && !o.fork {
		return runAskAgent(ctx, f, s, handle, o)
	}
	say, key, err := o.say(s)
	if err != nil {
		return err
	}
	if !s.Store.Exists() {
		if err := conversation.New(s.Observer).CheckTrust(&say.Meta); err != nil { // a refused turn creates no project
			return err
		}
		if s, err = f.NewProject(); err != nil {
			return err
		}
	}
	e := conversation.New(s.Observer)
	if err := e.CheckClaude(); err != nil { // before the text is accepted
		return err
	}
	var heard func(text string)
	var said heardText
	if o.stream {
		heard = func(text string) { said.add(text); hear(f, text) }
		e.Heard = func(_ conversations.Key, id, text string) {
			if id == say.ID { // not a turn that runs before it
				heard(text)
			}
		}
	}
	result, err := ask(ctx, e, key, say, heard)
	if err != nil {
		return err
	}
	return answered(f, key, result, said.String())
}

// ask runs one turn, through the project's server if there is one. An interrupted turn is left to the next caller.
func ask(ctx context.Context, e *conversation.Engine, key conversations.Key, say conversation.Say, heard func(text string)) (conversations.Result, error) {
	accepted, before, err := e.Accept(ctx, key, say)
	if err != nil {
		return conversations.Result{}, err
	}
	if before != nil {
		return *before, nil
	}
	result, err := await(ctx, e, key, say.ID, heard)
	if errors.Is(err, context.Canceled) {
		return result, fail.Errorf(fail.Interrupted, "interrupted; the text is kept, as turn %d", accepted.Seq).
			Hint("to give it up: nbs-worker conversation skip %s %d", human.ShellWord(string(key)), accepted.Seq).
			Hint("to have it answered: nbs-worker conversation retry %s %d", human.ShellWord(string(key)), accepted.Seq)
	}
	if kind := fail.KindOf(err); err != nil && kind != fail.Held && kind != fail.NotFound { // those say it themselves
		return result, fail.Errorf(kind, "%w; the text is kept, as turn %d", err, accepted.Seq).
			Hint("to have it answered: nbs-worker conversation retry %s %d", human.ShellWord(string(key)), accepted.Seq)
	}
	return result, err
}

// await waits for the answer to an accepted turn. If the project has a server, it asks the server, which may keep the
// conversation's claude warm.
func await(ctx context.Context, e *conversation.Engine, key conversations.Key, id string, heard func(text string)) (conversations.Result, error) {
	moving, stop := e.Moving(ctx, key, id)
	result, served, err := client.Await(moving, e.Store, key, id, heard)
	stop()
	switch {
	case !served:
		return e.Await(ctx, key, id)
	case errors.Is(err, context.Canceled) && ctx.Err() == nil:
		return result, fail.Errorf(fail.TimedOut, "the server of the project gave no answer: %w", context.Cause(moving))
	}
	return result, err
}

// contextProgram returns the absolute path of the --context-cmd program. Errors: BadInput.
func contextProgram(named string) (string, error) {
	path, err := filepath.Abs(named)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode().Perm()&0o111 == 0 {
		return "", fail.Errorf(fail.BadInput, "--context-cmd %s is no program", human.Quote(path)).Hint("give the path of a file that can be run")
	}
	return path, nil
}

// complete reads the named files.
func (o *askOptions) complete(f *ui.Factory, s *supervisor.Supervisor) (err error) {
	if o.ask.ContextCmd != "" || len(o.ask.ClaudeArgs) > 0 {
		if err := s.CheckPerson("choose with which arguments claude runs, or what runs beside it"); err != nil {
			return err
		}
	}
	if (o.prompt != "" || o.file != "") && !o.ask.Isolated { // it would affect later turns of other callers
		if err := s.CheckPerson("give a conversation its system prompt"); err != nil {
			return err
		}
	}
	if o.file != "" {
		if o.prompt, err = f.ReadFile(s, "system prompt", "--system-prompt-file", o.file); err != nil {
			return err
		}
	}
	if o.ask.ContextCmd != "" {
		if o.ask.ContextCmd, err = contextProgram(o.ask.ContextCmd); err != nil {
			return err
		}
	}
	if o.words = o.text; o.text == "-" {
		o.words, err = ui.ReadText("the text from", "-", f.Streams.In)
	}
	if err == nil && strings.TrimSpace(o.words) == "" {
		return fail.Errorf(fail.BadInput, "the text is empty").Hint("for example: nbs-worker ask %s 'What is left to do?'", human.ShellWord(o.key))
	}
	return err
}

// say returns the requested turn, and the key of its conversation.
func (o *askOptions) say(s *supervisor.Supervisor) (say conversation.Say, key conversations.Key, err error) {
	from, err := s.Envelope("", false)
	if err != nil {
		return say, key, err
	}
	o.ask.Text, o.ask.At = strings.TrimSpace(o.words), s.Now().UTC()
	if from != "" {
		o.ask.Text = from + "\n" + o.ask.Text
		if o.ask.ID != "" { // so that an agent cannot take an id that its user or a chat will use
			o.ask.ID = "agent:" + o.ask.ID
		}
	}
	o.ask.Typed = from == "" && o.text != "-"
	o.ask.ID = cmp.Or(o.ask.ID, uuid.NewString())
	o.ask.Nested = s.Variable(agent.TurnVariable) != ""
	if o.ask.Isolated {
		o.ask.SystemPrompt = o.prompt
	}
	meta, err := conversation.New(s.Observer).Founding()
	if err != nil {
		return say, key, err
	}
	if !o.ask.Isolated { // otherwise they belong to the turn alone
		meta.Model, meta.SystemPrompt = o.ask.Model, o.prompt
	}
	if handle, isAgent := strings.CutPrefix(o.key, "@"); isAgent {
		return forkOf(s, handle, o.ask, meta)
	}
	if o.ask.Powers, err = s.Turn(o.ask.Timeout); err != nil {
		return say, key, err
	}
	if powers := o.ask.Powers; powers != nil {
		meta.Cwd, meta.ConfigDir = powers.Cwd, powers.ConfigDir
	}
	key, err = s.Key(o.key)
	return conversation.Say{Request: o.ask, Meta: meta}, key, err
}
