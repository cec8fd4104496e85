package chat

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/caller"
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

	command      string // in place of a text
	rights       rightsFlags
	timeoutGiven bool
	silence      turnTimeout
}

func newAskCmd(f *ui.Factory) *cobra.Command {
	o := &askOptions{}
	cmd := &cobra.Command{
		Use:   "ask <key> [TEXT | -] [-- CLAUDE-ARGS...]",
		Short: "Take a turn in a headless conversation",
		Long: ui.WithCodes(`Takes one turn in a conversation without a terminal, and prints the answer. KEY names the
conversation, such as review or telegram:123456789; the first text begins it. Without TEXT, or
with -, ask reads stdin; a text that begins with a dash must come from there. @<handle> asks an
agent in its terminal, like send --wait-reply; with --fork it asks a copy of the agent's
conversation.

Claude cannot ask for permission here: a tool that needs it is refused, and a note says so
(nbs-worker help permissions).

Details:

Turns of one key are answered one after the other, in the order in which they were accepted. An
accepted text is on disk: if the caller is killed, the next ask or nbs-worker serve continues
with it. A text with the --id of an earlier one is not sent again; ask prints the stored answer.
If a claude was killed during a turn, ask looks into the transcript first. If claude used tools and
gave no answer, ask ends with 8 and a person decides. --on-unknown decides beforehand: continue
asks for the answer only, rerun sends the text again. Three failed attempts block the key until a person decides.

If claude still runs commands or subagents in the background when it has answered, ask waits for
them, for at most --timeout or else --turn-timeout, and prints what Claude then says after the
answer (follow_ups in --json). What runs longer is ended, and ask says what that was. A claude that nbs-worker serve
keeps goes on; its later words are in the history, and a chat is told of them.

A failed turn does not lose the conversation. If Claude has lost it, ask restores it from the
archive, or fails; with --on-lost fresh it begins a new one and says so. --json reports this as
"continuity": resumed, new or reset.

Claude gets the system prompt at every turn. A different one is refused until nbs-worker
conversation reset. --isolated answers outside of the conversation, which does not remember it.
Only a text typed on the command line can name files with @. Claude takes a text as words, also
one that begins with a slash; --command runs a command of .claude/commands, for a person only. Claude must trust the folder before
its first turn there.

With --enrich Claude gets in addition to the text the local time, the project, the observations of
the conversation that fit the text, and in a new session those of yesterday (nbs-worker help memory); what is missing is left out.

More: nbs-worker help conversations, and help rights about agents that ask.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Annotations: ui.Usual("json id permission-mode allowed-tools"),
		Example: `  nbs-worker ask review 'Remember 42.'
  nbs-worker ask review 'What number?' --json | jq -r .answer
  nbs-worker ask review - --system-prompt 'Review Go code.' <CHANGES.diff
  nbs-worker ask notes 'Write it down.' --allowed-tools Read,Edit,Write
  nbs-worker ask telegram:1234 'Hello.' --id update-77 --on-lost fresh
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
	flags.StringVar(&o.model, "model", "", "model: an alias such as sonnet, or a full name; the first turn sets it for the conversation")
	o.rights.bind(cmd, "the first turn sets it for the conversation")
	flags.StringVar(&o.command, "command", "", "a command of yours or the project's that Claude runs, in place of TEXT: '/daily now'")
	flags.StringVar(&o.prompt, "system-prompt", "", "system prompt of the conversation")
	flags.StringVar(&o.file, "system-prompt-file", "", "read the system prompt from this file")
	flags.StringVar(&o.ask.ContextCmd, "context-cmd", "", "program whose output Claude gets in addition to the text, up to 16 kB; run without a shell")
	flags.BoolVar(&o.ask.Enrich, "enrich", false, "give Claude the time, the project and what is remembered that fits the text")
	flags.BoolVar(&o.ask.Isolated, "isolated", false, "answer outside of the conversation, which does not remember it")
	flags.BoolVar(&o.fork, "fork", false, "with @<handle>: ask a copy of its conversation")
	flags.StringVar(&o.ask.OnLost, "on-lost", conversation.LostFail, "what to do if the conversation is lost: fail, or fresh for a new one")
	flags.StringVar(&o.ask.OnUnknown, "on-unknown", "", "what to do if a turn was cut short: ask, continue or rerun (default: ask if tools were used, otherwise continue)")
	flags.StringVar(&o.ask.ID, "id", "", "id of the text; a text with a known id is not sent again")
	flags.DurationVar(&o.ask.Timeout, "timeout", 0, "time limit for the whole turn, and for each turn that it waits for; 0: none (default: none; with @<handle> 10m)")
	o.silence.bind(cmd, "end the turn if claude gives no sign of life for this time while no tool runs; the first turn sets it for the conversation; 0: never")
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
		return fail.Errorf(fail.BadInput, "ask: one text is needed, %d given", len(args)-1).Hint("put it in quotes: nbs-worker ask %s 'TEXT'", human.ShellWord(args[0]))
	}
	if o.command != "" {
		if len(args) > 1 {
			return fail.Errorf(fail.BadInput, "ask: --command is in place of a text").Hint("nbs-worker ask %s --command '/NAME ARGUMENTS'", human.ShellWord(args[0]))
		}
		args, o.ask.Command = append(args, strings.TrimSpace(o.command)), true
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
			return fail.Errorf(fail.BadInput, "ask: --fork is only for agents").Hint("nbs-worker ask @HANDLE TEXT --fork")
		}
	} else if !o.fork && o.silence.isGiven() {
		return fail.Errorf(fail.BadInput, "ask: --turn-timeout does not work with an agent in its terminal").
			Hint("to limit the wait: nbs-worker ask @%s TEXT --timeout 1h", name)
	} else if !o.fork && (o.ask.ID != "" || o.ask.OnLost != conversation.LostFail || o.ask.OnUnknown != "" || o.stream) {
		return fail.Errorf(fail.BadInput, "ask: --id, --on-lost, --on-unknown and --stream do not work with an agent in its terminal").
			Hint("to ask a copy: nbs-worker ask @%s TEXT --fork", name)
	}
	if o.ask.OnLost != conversation.LostFail && o.ask.OnLost != conversation.LostFresh {
		return fail.Errorf(fail.BadInput, "ask: --on-lost %s must be fail or fresh", human.Quote(o.ask.OnLost)).Hint("nbs-worker help ask")
	}
	switch o.ask.OnUnknown {
	case "", conversation.UnknownAsk, conversation.UnknownContinue, conversation.UnknownRerun:
	default:
		return fail.Errorf(fail.BadInput, "ask: --on-unknown %s must be ask, continue or rerun", human.Quote(o.ask.OnUnknown)).Hint("nbs-worker help ask")
	}
	if o.ask.Timeout < 0 {
		return fail.Errorf(fail.BadInput, "ask: --timeout %s is negative", o.ask.Timeout).Hint("0: no limit")
	}
	silence, err := o.silence.silence()
	if err != nil {
		return fail.Errorf(fail.BadInput, "ask: %w", err)
	}
	o.ask.Silence = silence
	if o.model != "" {
		model, err := agent.ChooseModel(o.model)
		if err != nil {
			return err
		}
		o.ask.Model = model
	}
	if o.ask.Command {
		if err := claude.CheckCommand(o.text); err != nil {
			return err
		}
	}
	rights, err := o.rights.parse()
	o.ask.Rights = rights
	return errors.Join(err, conversation.CheckArgs(o.ask.ClaudeArgs))
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
	noteNamesake(f, s, key)
	if !s.Project.Store.Exists() {
		if err := conversation.New(s.Project).CheckTrust(&say.Meta); err != nil { // a refused turn creates no project
			return err
		}
		if s, err = f.NewProject(); err != nil {
			return err
		}
	}
	e := services.Conversations(s.Project)
	if err := e.CheckClaude(); err != nil { // before the text is accepted
		return err
	}
	var heard func(text string)
	var said heardText
	if o.stream {
		heard = func(text string) { said.add(text); hear(f, text) }
		e.Heard = func(_ conversations.Key, id string, p conversation.Progress) {
			if id == say.ID && p.Tool == "" { // not a turn that runs before it
				heard(p.Text)
			}
		}
	}
	result, err := ask(ctx, e, key, say, heard)
	if err != nil {
		return err
	}
	return answered(f, key, result, said.String())
}

// complete reads the named files.
func (o *askOptions) complete(f *ui.Factory, s *supervisor.Supervisor) (err error) {
	if o.ask.ContextCmd != "" || len(o.ask.ClaudeArgs) > 0 {
		if err := s.Caller.CheckPerson("choose with which arguments claude runs, or what runs beside it"); err != nil {
			return err
		}
	}
	if (o.prompt != "" || o.file != "") && !o.ask.Isolated { // it would affect later turns of other callers
		if err := s.Caller.CheckPerson("give a conversation its system prompt"); err != nil {
			return err
		}
	}
	if o.file != "" {
		if o.prompt, err = f.ReadFile(s, "system prompt", "--system-prompt-file", o.file); err != nil {
			return err
		}
	}
	if o.ask.ContextCmd != "" {
		if o.ask.ContextCmd, err = program("--context-cmd", o.ask.ContextCmd); err != nil {
			return err
		}
	}
	if o.words = o.text; o.text == "-" {
		o.words, err = ui.ReadText("the text from", "-", f.Input())
	}
	if err == nil && strings.TrimSpace(o.words) == "" {
		return fail.Errorf(fail.BadInput, "the text is empty").Hint("for example: nbs-worker ask %s 'What is left to do?'", human.ShellWord(o.key))
	}
	return err
}

// say returns the requested turn, and the key of its conversation.
func (o *askOptions) say(s *supervisor.Supervisor) (say conversation.Say, key conversations.Key, err error) {
	from, err := s.Caller.Envelope("", false)
	if err != nil {
		return say, key, err
	}
	o.ask.Text, o.ask.At = strings.TrimSpace(o.words), s.Project.Now().UTC()
	if from != "" {
		o.ask.Text = from + "\n" + o.ask.Text
		if o.ask.ID != "" { // so that an agent cannot take an id that its user or a chat will use
			o.ask.ID = "agent:" + o.ask.ID
		}
	}
	o.ask.Typed = from == "" && o.text != "-"
	o.ask.ID = cmp.Or(o.ask.ID, uuid.NewString())
	o.ask.Nested = s.Project.Variable(agent.TurnVariable) != ""
	if o.ask.Isolated {
		o.ask.SystemPrompt = o.prompt
	}
	meta, err := conversation.New(s.Project).Founding()
	if err != nil {
		return say, key, err
	}
	if !o.ask.Isolated { // otherwise they belong to the turn alone
		meta.Model, meta.SystemPrompt, meta.Silence, meta.Rights = o.ask.Model, o.prompt, o.ask.Silence, o.ask.Rights
	}
	if handle, isAgent := strings.CutPrefix(o.key, "@"); isAgent {
		return forkOf(s, handle, o.ask, meta)
	}
	asked := o.ask
	if !o.timeoutGiven {
		asked.Timeout = caller.TurnLimit // of an agent
	}
	if o.ask.Powers, err = s.Caller.Turn(&asked); err != nil {
		return say, key, err
	}
	if powers := o.ask.Powers; powers != nil {
		o.ask.Timeout = asked.Timeout
		meta.Cwd, meta.ConfigDir = powers.Cwd, powers.ConfigDir
	}
	key, err = s.Caller.Key(o.key)
	return conversation.Say{Request: o.ask, Meta: meta}, key, err
}
