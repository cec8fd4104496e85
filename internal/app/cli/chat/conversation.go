package chat

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
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
)

func newConversationCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "conversation {list | show | history | reset | queue | retry | skip | interrupt | restore | name | import}",
		Short: "Show and change headless conversations",
		Long: ui.WithCodes(`Shows and changes the conversations of nbs-worker ask and nbs-worker serve. Each has a key, a
Claude session, and turns that are answered one after the other. An open turn is in one of these
states:

  queued   it waits for the turns before it
  running  claude works on it; show and queue say if the API refuses it
  held     it is tried again, for example after an overload or a new login
  dead     a person must retry or skip it; the turns behind it wait

A conversation that was reset is kept, and restore goes back to it. An agent sees only its own
conversations, whose keys begin with agent:HANDLE:`, fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker conversation list
  nbs-worker conversation queue
  nbs-worker conversation reset telegram:123456789`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fail.Errorf(fail.BadInput, "conversation: list, show, history, reset, queue, retry, skip, interrupt, restore, name or import?").Hint("nbs-worker conversation --help")
			}
			return ui.ErrUnknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConversationListCmd(f), newConversationShowCmd(f), newConversationHistoryCmd(f), newConversationResetCmd(f),
		newConversationQueueCmd(f), newConversationRetryCmd(f), newConversationSkipCmd(f), newConversationInterruptCmd(f), newConversationRestoreCmd(f),
		newConversationNameCmd(f), newConversationImportCmd(f))
	return cmd
}

func newConversationListCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the conversations",
		Long: ui.WithCodes(`Lists the conversations of the project, the last used first. In a pipe the columns are key,
session id, answered turns, open turns, and time of last use.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Held),
		Example: `  nbs-worker conversation list
  nbs-worker conversation list --json | jq -r '.[]|select(.open!=[]).key'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return ui.Failed(runConversationList(f), "conversation list") },
	}
	return f.WithJSON(cmd)
}

func runConversationList(f *ui.Factory) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	e := conversation.New(s.Project)
	keys, broken := e.Project.Store.Conversations().Keys()
	all := []wire.Conversation{}
	for _, key := range keys {
		if !s.Caller.Sees(key) {
			continue
		}
		c, err := present(e, key)
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b wire.Conversation) int { return lastOf(b).Compare(lastOf(a)) })
	if f.JSON {
		return errors.Join(f.PrintJSON(all), broken)
	}
	t := f.NewTable("KEY", "SESSION", "ANSWERED", "OPEN", "LAST")
	t.Under = 4
	for _, c := range all {
		session := ""
		if c.SessionID != nil {
			session = string(*c.SessionID)
		}
		t.Row(ui.Text(string(c.Key)), ui.Text(session), ui.Text(strconv.Itoa(c.Answered)), ui.Text(strconv.Itoa(len(c.Open))), t.Time(lastOf(c)))
	}
	return errors.Join(t.Flush(), broken)
}

func lastOf(c wire.Conversation) time.Time {
	if at := cmp.Or(c.Last, c.Created); at != nil {
		return *at
	}
	return time.Time{}
}

// conversing opens the project's conversations, to show the named one. Errors: NotFound; Held when the caller may not
// see it.
func conversing(f *ui.Factory, named conversations.Key) (*conversation.Engine, conversations.Key, error) {
	s, err := f.Supervisor()
	if err != nil {
		return nil, "", err
	}
	key, err := s.Caller.Key(string(named))
	return conversation.New(s.Project), key, err
}

// present returns the present state of a conversation, with its open turns. Errors: NotFound.
func present(e *conversation.Engine, key conversations.Key) (wire.Conversation, error) {
	state, err := e.Project.Store.Conversations().Of(key).State()
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
	return wire.NewConversation(&state, agent.Mapped(open, func(w conversation.Waiting) wire.OpenTurn { return wire.NewOpenTurn(key, w) }), e.Today()), nil
}

// completeKeys completes the keys of the conversations that the caller may see.
func completeKeys(f *ui.Factory) ui.Completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		s, err := f.Supervisor()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		keys, _ := s.Project.Store.Conversations().Keys()
		keys = slices.DeleteFunc(keys, func(key conversations.Key) bool { return !s.Caller.Sees(key) })
		return agent.Mapped(keys, func(key conversations.Key) cobra.Completion { return string(key) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeAsked completes what can be asked: a conversation or, after an @, an agent.
func completeAsked(f *ui.Factory) ui.Completion {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if !strings.HasPrefix(typed, "@") {
			return completeKeys(f)(cmd, args, typed)
		}
		handles, directive := ui.Once(f.HandlesWhere(ui.Running))(cmd, args, typed)
		return agent.Mapped(handles, func(handle string) cobra.Completion { return "@" + handle }), directive
	}
}

// keyVerb is a verb that takes the key of a conversation, and at most most further arguments.
type keyVerb struct {
	use, short, long, example string

	most  int
	codes []fail.Kind
	run   func(ctx context.Context, key conversations.Key, rest []string) error
}

func (v *keyVerb) name() string {
	name, _, _ := strings.Cut(v.use, " ")
	return name
}

func keyCmd(f *ui.Factory, v keyVerb) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use: v.use, Short: v.short, Long: ui.WithCodes(v.long, v.codes...), Example: v.example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 1+v.most {
				return fail.Errorf(fail.BadInput, "conversation %s: usage: nbs-worker conversation %s", v.name(), v.use).Hint("to see the keys: nbs-worker conversation list")
			}
			_, err := conversations.ParseKey(args[0])
			return err
		},
		ValidArgsFunction: completeKeys(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := v.run(cmd.Context(), conversations.Key(args[0]), args[1:])
			if errors.Is(err, context.Canceled) {
				err = fail.Errorf(fail.Interrupted, "interrupted")
			}
			return ui.Failed(err, "conversation "+v.name(), args[0])
		},
	})
}

func newConversationShowCmd(f *ui.Factory) *cobra.Command {
	return keyCmd(f, keyVerb{
		use: "show <key>", short: "Show a conversation",
		long: `Shows the session of a conversation, its model and system prompt, the previous sessions, and the
open turns.`,
		example: `  nbs-worker conversation show review
  nbs-worker conversation show review --json | jq -r .session_id`,
		codes: []fail.Kind{fail.Failed, fail.NotFound, fail.BadInput, fail.Held},
		run: func(_ context.Context, key conversations.Key, _ []string) error {
			e, key, err := conversing(f, key)
			if err != nil {
				return err
			}
			c, err := present(e, key)
			if err != nil {
				return err
			}
			if f.JSON {
				return f.PrintJSON(c)
			}
			return showConversation(f, c)
		},
	})
}

func showConversation(f *ui.Factory, c wire.Conversation) error {
	rows := [][2]string{{"key", string(c.Key)}, {"session", "none yet"}, {"model", string(c.Model)}, {"folder", c.Cwd}, {"answered", strconv.Itoa(c.Answered)}}
	if c.SessionID != nil {
		rows[1][1] = withName(string(*c.SessionID), c.Name)
	}
	if c.Unseen {
		rows[1][1] += ", imported without a transcript"
	}
	if c.CostUSD > 0 {
		rows = append(rows, [2]string{"cost", fmt.Sprintf("$%.2f today, $%.2f in all", c.CostToday, c.CostUSD)})
	}
	rows = append(rows, [2]string{"permissions", c.Rights.Words()})
	if c.Before != nil {
		rows = append(rows, [2]string{"earlier", c.Before.Words() + ", until " + f.When(*c.Before.Until)})
	}
	if c.SystemPrompt != "" {
		rows = append(rows, [2]string{"system prompt", c.SystemPrompt})
	}
	rows = append(rows, [2]string{"turn timeout", turnTimeoutWords(c.TurnTimeoutS)})
	for _, p := range c.Previous {
		words := withName(string(p.SessionID), p.Name)
		if p.Reason != "" {
			words += ", " + p.Reason
		}
		rows = append(rows, [2]string{"before", words})
	}
	for _, w := range c.Open {
		state := w.State
		if w.Reason != "" {
			state += " (" + w.Reason + ")"
		}
		rows = append(rows, [2]string{"open", fmt.Sprintf("%d %s: %s", w.Seq, state, w.Text)})
	}
	for _, t := range c.Told {
		rows = append(rows, [2]string{"told", t.By + ": " + t.Text})
	}
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(f.Streams.Out, "%-14s %s\n", row[0], ui.OneLine(row[1])); err != nil {
			return err
		}
	}
	return nil
}

// withName returns the id of a session with its name, if it has one.
func withName(id, name string) string {
	if name == "" {
		return id
	}
	return id + " (" + name + ")"
}
