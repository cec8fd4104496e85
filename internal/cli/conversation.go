package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/conversation"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/supervisor"
	"nbs-worker/internal/wire"
)

func newConversationCmd(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "conversation {list | show | history | reset | queue | retry | skip | restore | import}",
		Short: "The headless conversations, and what waits in them",
		Long: withCodes(`Shows and changes the conversations of nbs-worker ask and nbs-worker serve. Each has a key,
a session of Claude's, and turns that are taken one at a time. A turn that is not answered yet is

  queued   it waits for its turn
  running  claude is at it
  held     it failed in a way that passes, such as an overload, and is tried again at a time
  dead     a person decides: retry or skip. Until then nothing behind it is answered

A conversation that was reset is kept, and restore goes back to it. What is decided here is
for persons: an agent only looks.`, agent.Failed, agent.NotFound, agent.BadInput, agent.Conflict, agent.Unfit, agent.Held),
		Example: `  nbs-worker conversation list
  nbs-worker conversation queue
  nbs-worker conversation reset telegram:123456789`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return agent.Errorf(agent.BadInput, "conversation: list, show, history, reset, queue, retry, skip, restore or import?").Hint("nbs-worker conversation --help")
			}
			return errUnknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConversationListCmd(f), newConversationShowCmd(f), newConversationHistoryCmd(f), newConversationResetCmd(f),
		newConversationQueueCmd(f), newConversationRetryCmd(f), newConversationSkipCmd(f), newConversationRestoreCmd(f), newConversationImportCmd(f))
	return cmd
}

func newConversationListCmd(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the conversations",
		Long: withCodes(`Lists the conversations of the project, the last one used first. In a pipe the columns are
key, session id, answered turns, open turns, when it was used last, and what is wrong with it.`,
			agent.Failed, agent.NotFound, agent.BadInput),
		Example: `  nbs-worker conversation list
  nbs-worker conversation list --json | jq -r '.[] | select(.open | length > 0) | .key'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return failed(runConversationList(f), "conversation list") },
	}
	return f.withJSON(cmd)
}

func runConversationList(f *factory) error {
	e, err := f.conversing()
	if err != nil {
		return err
	}
	keys, broken := e.Store.Conversations().Keys()
	all := []wire.Conversation{}
	for _, key := range keys {
		c, err := f.conversation(e, key)
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b wire.Conversation) int { return lastOf(b).Compare(lastOf(a)) })
	if f.json {
		return errors.Join(f.printJSON(all), broken)
	}
	t := f.newTable("KEY", "SESSION", "ANSWERED", "OPEN", "LAST")
	for _, c := range all {
		session := ""
		if c.SessionID != nil {
			session = string(*c.SessionID)
		}
		t.row(text(string(c.Key)), text(session), text(strconv.Itoa(c.Answered)), text(strconv.Itoa(len(c.Open))), t.time(lastOf(c)))
	}
	return errors.Join(t.flush(), broken)
}

func lastOf(c wire.Conversation) time.Time {
	if at := cmp.Or(c.Last, c.Created); at != nil {
		return *at
	}
	return time.Time{}
}

// conversing opens the project's conversations. Errors: NotFound.
func (f *factory) conversing() (*conversation.Engine, error) {
	s, err := f.supervisor()
	if err != nil {
		return nil, err
	}
	return conversation.New(s.Observer), nil
}

// conversation is how one stands.
func (f *factory) conversation(e *conversation.Engine, key conversations.Key) (wire.Conversation, error) {
	state, err := e.Store.Conversations().Of(key).State()
	if errors.Is(err, fs.ErrNotExist) {
		return wire.Conversation{}, conversation.ErrNone(key)
	}
	if err != nil {
		return wire.Conversation{}, err
	}
	open, err := e.Open(&state)
	if err != nil {
		return wire.Conversation{}, err
	}
	return wire.NewConversation(&state, agent.Mapped(open, func(w conversation.Waiting) wire.OpenTurn { return wire.NewOpenTurn(key, w) })), nil
}

// completeKeys completes the keys of the conversations.
func (f *factory) completeKeys(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	s, err := f.supervisor()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	keys, _ := s.Store.Conversations().Keys()
	return agent.Mapped(keys, func(key conversations.Key) cobra.Completion { return string(key) }), cobra.ShellCompDirectiveNoFileComp
}

// keyCmd is a verb for one conversation, and what else it takes.
func keyCmd(f *factory, use, short, long, example string, most int, codes []agent.Kind, run func(ctx context.Context, key conversations.Key, rest []string) error) *cobra.Command {
	verb, _, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{
		Use: use, Short: short, Long: withCodes(long, codes...), Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 1+most {
				return agent.Errorf(agent.BadInput, "conversation %s: usage: nbs-worker conversation %s", verb, use).Hint("to see the keys: nbs-worker conversation list")
			}
			_, err := conversations.ParseKey(args[0])
			return err
		},
		ValidArgsFunction: f.completeKeys,
		RunE: func(cmd *cobra.Command, args []string) error {
			return failed(run(cmd.Context(), conversations.Key(args[0]), args[1:]), "conversation "+verb, args[0])
		},
	}
	return f.withJSON(cmd)
}

func newConversationShowCmd(f *factory) *cobra.Command {
	return keyCmd(f, "show <key>", "Show a conversation", `Shows the session of a conversation, what is given to Claude at each turn, the sessions before,
and the turns that wait.`, `  nbs-worker conversation show review
  nbs-worker conversation show review --json | jq -r .session_id`, 0, []agent.Kind{agent.Failed, agent.NotFound, agent.BadInput},
		func(_ context.Context, key conversations.Key, _ []string) error {
			e, err := f.conversing()
			if err != nil {
				return err
			}
			c, err := f.conversation(e, key)
			if err != nil {
				return err
			}
			if f.json {
				return f.printJSON(c)
			}
			return f.showConversation(c)
		})
}

func (f *factory) showConversation(c wire.Conversation) error {
	rows := [][2]string{{"key", string(c.Key)}, {"session", "none yet"}, {"model", string(c.Model)}, {"folder", c.Cwd}, {"answered", strconv.Itoa(c.Answered)}}
	if c.SessionID != nil {
		rows[1][1] = string(*c.SessionID)
	}
	if c.SystemPrompt != "" {
		rows = append(rows, [2]string{"system prompt", c.SystemPrompt})
	}
	for _, p := range c.Previous {
		words := string(p.SessionID)
		if p.Reason != "" {
			words += ", " + p.Reason
		}
		rows = append(rows, [2]string{"before", words})
	}
	for _, w := range c.Open {
		rows = append(rows, [2]string{"open", fmt.Sprintf("%d %s: %s", w.Seq, w.State, w.Text)})
	}
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(f.streams.Out, "%-14s %s\n", row[0], oneLine(row[1])); err != nil {
			return err
		}
	}
	return nil
}

func newConversationQueueCmd(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue [<key>]",
		Short: "List the turns that are not answered yet",
		Long: withCodes(`Lists the open turns of a conversation, or of all, in the order in which they are answered. In
a pipe the columns are key, number, state, attempts, when it is tried again, why, and the
beginning of the text.`, agent.Failed, agent.NotFound, agent.BadInput),
		Example: `  nbs-worker conversation queue
  nbs-worker conversation queue --json | jq -r '.[] | select(.state == "dead") | "\(.key) \(.seq)"'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return agent.Errorf(agent.BadInput, "conversation queue: one key, or none").Hint("nbs-worker conversation queue")
			}
			return nil
		},
		ValidArgsFunction: f.completeKeys,
		RunE: func(_ *cobra.Command, args []string) error {
			return failed(runConversationQueue(f, args), "conversation queue")
		},
	}
	return f.withJSON(cmd)
}

func runConversationQueue(f *factory, named []string) error {
	e, err := f.conversing()
	if err != nil {
		return err
	}
	keys := agent.Mapped(named, func(key string) conversations.Key { return conversations.Key(key) })
	var broken error
	if len(named) == 0 {
		keys, broken = e.Store.Conversations().WithWork()
	}
	open := []wire.OpenTurn{}
	for _, key := range keys {
		c, err := f.conversation(e, key)
		if err != nil { // the others are told all the same
			broken = errors.Join(broken, err)
			continue
		}
		open = append(open, c.Open...)
	}
	if f.json {
		return errors.Join(f.printJSON(open), broken)
	}
	t := f.newTable("KEY", "NUMBER", "STATE", "ATTEMPTS", "AGAIN", "REASON", "TEXT")
	for _, w := range open {
		again := ""
		if w.Until != nil {
			again = w.Until.Format(time.RFC3339)
		}
		t.row(text(string(w.Key)), text(strconv.Itoa(w.Seq)), text(w.State), text(strconv.Itoa(w.Attempts)), text(again), text(w.Reason), text(w.Text))
	}
	return errors.Join(t.flush(), broken)
}

// decide opens a conversation for what only a person does.
func (f *factory) decide(key conversations.Key) (*supervisor.Supervisor, *conversations.Conversation, error) {
	s, err := f.supervisor()
	if err != nil {
		return nil, nil, err
	}
	if err := s.CheckPerson("decide on a conversation"); err != nil {
		return nil, nil, err
	}
	return s, s.Store.Conversations().Of(key), nil
}

func newConversationResetCmd(f *factory) *cobra.Command {
	var prompt, model string
	cmd := keyCmd(f, "reset <key>", "Begin a conversation anew", `The next turn begins a new session of Claude's, and knows nothing of what was said. The session
before is kept as a previous one, and nbs-worker conversation restore goes back to it. Turns that wait stay. A
turn that is being answered is waited for. --system-prompt and --model are of the new conversation; what is not
given stays as it was.`, `  nbs-worker conversation reset telegram:123456789
  nbs-worker conversation reset review --system-prompt 'You review Go code.'`, 0,
		[]agent.Kind{agent.Failed, agent.NotFound, agent.BadInput, agent.Conflict, agent.Held, agent.Interrupted}, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		key := conversations.Key(args[0])
		return failed(runConversationReset(cmd.Context(), f, key, func(meta *conversations.Meta) error {
			if cmd.Flags().Changed("system-prompt") {
				meta.SystemPrompt = prompt
			}
			if !cmd.Flags().Changed("model") {
				return nil
			}
			parsed, err := agent.ParseModel(model)
			meta.Model = parsed
			return err
		}), "conversation reset", args[0])
	}
	cmd.Flags().StringVar(&prompt, "system-prompt", "", "what Claude is from now on")
	cmd.Flags().StringVar(&model, "model", "", "from now on")
	return cmd
}

func runConversationReset(ctx context.Context, f *factory, key conversations.Key, change func(*conversations.Meta) error) error {
	s, c, err := f.decide(key)
	if err != nil {
		return err
	}
	state, err := c.State()
	if errors.Is(err, fs.ErrNotExist) {
		return conversation.ErrNone(key)
	}
	if err != nil {
		return err
	}
	if err := change(&state.Meta); err != nil {
		return err
	}
	e := conversation.New(s.Observer)
	previous, err := e.Reset(ctx, key, conversation.ReasonAsked, &state.Meta)
	if err != nil {
		return err
	}
	words := "is new"
	if previous.ID != "" {
		words = "is new; the one before is kept as " + string(previous.ID)
	}
	return f.changed(e, key, words)
}

// changed shows what a verb led to.
func (f *factory) changed(e *conversation.Engine, key conversations.Key, words string) error {
	c, err := f.conversation(e, key)
	if err != nil {
		return err
	}
	if f.json {
		return f.printJSON(c)
	}
	_, err = fmt.Fprintf(f.streams.Out, "%s %s\n", key, words)
	return err
}

func newConversationRetryCmd(f *factory) *cobra.Command {
	return keyCmd(f, "retry <key> [<number>]", "Try a turn again", `Tries the first turn that waits again, now, and all behind it, and prints its answer. Of a turn that may have been
said already the text is not said again, but for one that was asked with --on-unknown rerun.
With a number all up to that turn are answered, and the answer to that one is printed.`, `  nbs-worker conversation retry review
  nbs-worker conversation retry review 17`, 1,
		[]agent.Kind{agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Conflict, agent.Unfit, agent.Held, agent.Interrupted},
		func(ctx context.Context, key conversations.Key, rest []string) error {
			seq, err := numbered(rest)
			if err != nil {
				return err
			}
			s, c, err := f.decide(key)
			if err != nil {
				return err
			}
			e := conversation.New(s.Observer)
			head, wanted, err := e.OpenTurn(key, seq)
			if err != nil {
				return err
			}
			if head.Held != nil {
				if err := c.Retry(ctx, head.Seq); err != nil {
					return err
				}
			}
			result, err := await(ctx, e, key, wanted.ID, nil)
			if err != nil {
				return err
			}
			return f.answered(key, result, "")
		})
}

func newConversationSkipCmd(f *factory) *cobra.Command {
	return keyCmd(f, "skip <key> [<number>]", "Give a turn up", `Gives the first turn that waits up, or that with the number: it is not answered, and what is behind it is next. Who
waits for its answer is told so. Where the text was said already it stays in the conversation. A turn that is being
answered is not given up.`, `  nbs-worker conversation skip review
  nbs-worker conversation skip review 17`, 1,
		[]agent.Kind{agent.Failed, agent.NotFound, agent.BadInput, agent.Conflict, agent.Held},
		func(ctx context.Context, key conversations.Key, rest []string) error {
			seq, err := numbered(rest)
			if err != nil {
				return err
			}
			s, _, err := f.decide(key)
			if err != nil {
				return err
			}
			e := conversation.New(s.Observer)
			given, err := e.Skip(ctx, key, seq, "a person gave it up")
			if err != nil {
				return err
			}
			return f.changed(e, key, fmt.Sprintf("gives turn %d up", given))
		})
}

// numbered is the number that was typed, 0: none. Errors: BadInput.
func numbered(rest []string) (int, error) {
	if len(rest) == 0 {
		return 0, nil
	}
	seq, err := strconv.Atoi(rest[0])
	if err != nil || seq < 1 {
		return 0, agent.Errorf(agent.BadInput, "%s is no number of a turn", agent.Quote(rest[0])).Hint("to see those that wait: nbs-worker conversation queue")
	}
	return seq, nil
}

func newConversationRestoreCmd(f *factory) *cobra.Command {
	return keyCmd(f, "restore <key> <session-id>", "Go back to a session that the conversation was in before", `Makes a previous session the conversation's again; the present one becomes a previous one.
Its turns go on in it. The beginning of the id is enough.`, `  nbs-worker conversation restore telegram:123456789 4f0c2a53`, 1,
		[]agent.Kind{agent.Failed, agent.NotFound, agent.BadInput, agent.Conflict, agent.Held, agent.Interrupted},
		func(ctx context.Context, key conversations.Key, rest []string) error {
			if len(rest) == 0 {
				return agent.Errorf(agent.BadInput, "the id of a session is needed").Hint("to see them: nbs-worker conversation show %s", agent.ShellWord(string(key)))
			}
			s, _, err := f.decide(key)
			if err != nil {
				return err
			}
			e := conversation.New(s.Observer)
			id, err := e.Restore(ctx, key, rest[0])
			if err != nil {
				return err
			}
			return f.changed(e, key, "is in "+string(id)+" again")
		})
}
