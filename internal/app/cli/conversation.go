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
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
)

func newConversationCmd(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "conversation {list | show | history | reset | queue | retry | skip | restore | import}",
		Short: "Show and change headless conversations",
		Long: withCodes(`Shows and changes the conversations of nbs-worker ask and nbs-worker serve. Each has a key,
a Claude session, and turns that are taken one at a time. A turn that is not answered yet is

  queued   it waits for its turn
  running  claude works on it
  held     it failed for a reason that passes, such as an overload, and is tried again later
  dead     a person decides: retry or skip. Until then no turn behind it is answered

A conversation that was reset is kept, and restore goes back to it. Here only persons
decide. An agent sees its own conversations, whose keys begin with agent:HANDLE:`, fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker conversation list
  nbs-worker conversation queue
  nbs-worker conversation reset telegram:123456789`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fail.Errorf(fail.BadInput, "conversation: list, show, history, reset, queue, retry, skip, restore or import?").Hint("nbs-worker conversation --help")
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
		Long: withCodes(`Lists the conversations of the project, the last used first. In a pipe the columns are key,
session id, answered turns, open turns, and when it was last used.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Held),
		Example: `  nbs-worker conversation list
  nbs-worker conversation list --json | jq -r '.[] | select(.open | length > 0) | .key'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return failed(runConversationList(f), "conversation list") },
	}
	return f.withJSON(cmd)
}

func runConversationList(f *factory) error {
	s, err := f.supervisor()
	if err != nil {
		return err
	}
	e := conversation.New(s.Observer)
	keys, broken := e.Store.Conversations().Keys()
	all := []wire.Conversation{}
	for _, key := range keys {
		if !s.Sees(key) {
			continue
		}
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
	t.under = 4
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

// conversing opens the project's conversations, to show the named one. Errors: NotFound; Held when the caller may not
// see it.
func (f *factory) conversing(named conversations.Key) (*conversation.Engine, conversations.Key, error) {
	s, err := f.supervisor()
	if err != nil {
		return nil, "", err
	}
	key, err := s.Key(string(named))
	return conversation.New(s.Observer), key, err
}

// conversation returns the present state of a conversation, with its open turns. Errors: NotFound.
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

// completeAsked completes what can be asked: a conversation or, after an @, an agent.
func (f *factory) completeAsked(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if !strings.HasPrefix(typed, "@") {
		return f.completeKeys(cmd, args, typed)
	}
	handles, directive := once(f.handlesWhere(whoRuns))(cmd, args, typed)
	return agent.Mapped(handles, func(handle string) cobra.Completion { return "@" + handle }), directive
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

func keyCmd(f *factory, v keyVerb) *cobra.Command {
	return f.withJSON(&cobra.Command{
		Use: v.use, Short: v.short, Long: withCodes(v.long, v.codes...), Example: v.example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 1+v.most {
				return fail.Errorf(fail.BadInput, "conversation %s: usage: nbs-worker conversation %s", v.name(), v.use).Hint("to see the keys: nbs-worker conversation list")
			}
			_, err := conversations.ParseKey(args[0])
			return err
		},
		ValidArgsFunction: f.completeKeys,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := v.run(cmd.Context(), conversations.Key(args[0]), args[1:])
			if errors.Is(err, context.Canceled) {
				err = fail.Errorf(fail.Interrupted, "interrupted")
			}
			return failed(err, "conversation "+v.name(), args[0])
		},
	})
}

func newConversationShowCmd(f *factory) *cobra.Command {
	return keyCmd(f, keyVerb{
		use: "show <key>", short: "Show a conversation",
		long: `Shows the session of a conversation, what Claude gets at each turn, the previous sessions,
and the turns that wait.`,
		example: `  nbs-worker conversation show review
  nbs-worker conversation show review --json | jq -r .session_id`,
		codes: []fail.Kind{fail.Failed, fail.NotFound, fail.BadInput, fail.Held},
		run: func(_ context.Context, key conversations.Key, _ []string) error {
			e, key, err := f.conversing(key)
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
		},
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
