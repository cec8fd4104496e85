package chat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/supervisor"
)

// decide opens a conversation for a verb that only a person may call.
func decide(f *ui.Factory, key conversations.Key) (*supervisor.Supervisor, *conversations.Conversation, error) {
	s, err := f.Supervisor()
	if err != nil {
		return nil, nil, err
	}
	return s, s.Project.Store.Conversations().Of(key), nil
}

func newConversationResetCmd(f *ui.Factory) *cobra.Command {
	var prompt, model string
	var rights rightsFlags
	var now now
	var cmd *cobra.Command
	cmd = keyCmd(f, keyVerb{
		use: "reset <key>", short: "Begin a new session in a conversation",
		long: `Begins a new Claude session, which knows nothing of what was said; nbs-worker conversation
restore goes back to the old one. Open turns stay. reset waits for a turn that is being answered,
and for background tasks that still hold the conversation; --now ends them. --system-prompt,
--model, --permission-mode and --allowed-tools apply from then on; without them, the present ones
stay.`,
		example: `  nbs-worker conversation reset telegram:123456789
  nbs-worker conversation reset review --system-prompt 'Review Go.'`,
		codes: []fail.Kind{fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Held, fail.Interrupted},
		run: func(ctx context.Context, key conversations.Key, _ []string) error {
			return runConversationReset(ctx, f, key, &now, func(meta *conversations.Meta) error {
				if cmd.Flags().Changed("system-prompt") {
					meta.SystemPrompt = prompt
				}
				if err := agent.CheckText("--system-prompt", prompt); err != nil {
					return err
				}
				var err error
				if cmd.Flags().Changed("model") {
					if meta.Model, err = agent.ChooseModel(model); err != nil {
						return err
					}
				}
				if cmd.Flags().Changed("permission-mode") || cmd.Flags().Changed("allowed-tools") {
					meta.Rights, err = rights.parse()
				}
				return err
			})
		},
	})
	cmd.Flags().StringVar(&prompt, "system-prompt", "", "new system prompt")
	cmd.Flags().StringVar(&model, "model", "", "new model")
	rights.bind(cmd, "in place of the present ones")
	now.bind(cmd)
	return cmd
}

func runConversationReset(ctx context.Context, f *ui.Factory, key conversations.Key, now *now, change func(*conversations.Meta) error) error {
	s, c, err := decide(f, key)
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
	tried := state.Meta
	if err := change(&tried); err != nil { // before anything is waited for, or stopped
		return err
	}
	e := conversation.New(s.Project)
	if _, err := now.stop(ctx, e, key, 0, "stopped by a reset"); err != nil {
		return err
	}
	if awaited := e.Awaited(&state); awaited != "" && !now.is {
		f.Say("conversation reset %s: waiting for %s", key, awaited)
	}
	previous, err := e.Reset(ctx, key, conversation.ReasonAsked, change)
	if err != nil {
		return hintNow(err, key, "reset", fail.TimedOut)
	}
	words := "has a new session"
	if previous.ID != "" {
		words = "has a new session; the previous one is " + string(previous.ID)
	}
	return printChanged(f, e, key, words)
}

// printChanged prints the result of a verb.
func printChanged(f *ui.Factory, e *conversation.Engine, key conversations.Key, words string) error {
	c, err := present(e, key)
	if err != nil {
		return err
	}
	if f.JSON {
		return f.PrintJSON(c)
	}
	_, err = fmt.Fprintf(f.Streams.Out, "%s %s\n", key, words)
	return err
}

func newConversationRetryCmd(f *ui.Factory) *cobra.Command {
	cmd := keyCmd(f, keyVerb{
		use: "retry {<key> [<number>] | --all}", short: "Try a turn again", most: 1,
		long: `Tries the first open turn again, now, and prints its answer; then the turns behind it can
follow. A text that Claude may already have is not sent again, unless it was asked with
--on-unknown rerun. With a number, retry answers all turns up to that one, and prints its answer.

--all tries the held turn of each conversation, for example after a new login, and prints which
turns are answered.`,
		example: `  nbs-worker conversation retry review
  nbs-worker conversation retry review 17
  nbs-worker conversation retry --all`,
		codes: []fail.Kind{fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted},
		run: func(ctx context.Context, key conversations.Key, rest []string) error {
			seq, err := numbered(rest)
			if err != nil {
				return err
			}
			s, c, err := decide(f, key)
			if err != nil {
				return err
			}
			e := services.Conversations(s.Project)
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
			return answered(f, key, result, "")
		},
	})
	return withAll(cmd, "try the held turns of all conversations", func(ctx context.Context) error { return runConversationRetryAll(ctx, f) })
}

func newConversationSkipCmd(f *ui.Factory) *cobra.Command {
	var now now
	cmd := keyCmd(f, keyVerb{
		use: "skip <key> [<number>]", short: "Give up a turn", most: 1,
		long: `Gives up the first open turn, or the one with that number, so that the next one can be answered.
Callers that wait for its answer get an error. If Claude already has its text, the text stays in
the conversation. A turn that is being answered is skipped only with --now, which stops it.`,
		example: `  nbs-worker conversation skip review
  nbs-worker conversation skip review 17`,
		codes: []fail.Kind{fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Held, fail.Interrupted},
		run: func(ctx context.Context, key conversations.Key, rest []string) error {
			seq, err := numbered(rest)
			if err != nil {
				return err
			}
			s, _, err := decide(f, key)
			if err != nil {
				return err
			}
			e := conversation.New(s.Project)
			if head, _, err := e.OpenTurn(key, 0); err == nil && seq == 0 {
				seq = head.Seq
			}
			stopped, err := now.stop(ctx, e, key, seq, "stopped by a person, who gave it up")
			switch {
			case err != nil:
				return err
			case stopped != nil:
				return printChanged(f, e, key, stopped.Words())
			}
			given, err := e.Skip(ctx, key, seq, "a person gave it up")
			if err != nil {
				return hintNow(err, key, "skip", fail.Conflict)
			}
			return printChanged(f, e, key, fmt.Sprintf("gives turn %d up", given))
		},
	})
	now.bind(cmd)
	return cmd
}

// numbered returns the number of a turn as typed; 0 if it is missing. Errors: BadInput.
func numbered(rest []string) (int, error) {
	if len(rest) == 0 {
		return 0, nil
	}
	seq, err := strconv.Atoi(rest[0])
	if err != nil || seq < 1 {
		return 0, fail.Errorf(fail.BadInput, "%s is not the number of a turn", human.Quote(rest[0])).Hint("to see the open turns: nbs-worker conversation queue")
	}
	return seq, nil
}

func newConversationRestoreCmd(f *ui.Factory) *cobra.Command {
	return keyCmd(f, keyVerb{
		use: "restore <key> [<session>]", short: "Go back to a previous session of a conversation", most: 1,
		long: `Makes a previous session of the conversation the present one, and the present one a previous one.
The beginning of its id, or its name, is enough; without either, restore takes the latest.`,
		example: `  nbs-worker conversation restore telegram:123456789
  nbs-worker conversation restore telegram:123456789 4f0c2a53`,
		codes: []fail.Kind{fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Held, fail.Interrupted},
		run: func(ctx context.Context, key conversations.Key, rest []string) error {
			s, _, err := decide(f, key)
			if err != nil {
				return err
			}
			e := conversation.New(s.Project)
			id, err := e.Restore(ctx, key, strings.Join(rest, ""))
			if err != nil {
				return err
			}
			return printChanged(f, e, key, "is in "+string(id)+" again")
		},
	})
}

func newConversationNameCmd(f *ui.Factory) *cobra.Command {
	return keyCmd(f, keyVerb{
		use: "name <key> <name>", short: "Name the session of a conversation", most: 1,
		long: `Names the present session of the conversation, so that restore finds it again by that name. An
empty name takes the name away.`,
		example: `  nbs-worker conversation name telegram:123456789 Holiday`,
		codes:   []fail.Kind{fail.Failed, fail.NotFound, fail.BadInput, fail.Held, fail.Interrupted},
		run: func(ctx context.Context, key conversations.Key, rest []string) error {
			if len(rest) == 0 {
				return fail.Errorf(fail.BadInput, "the name is missing").Hint("nbs-worker conversation name %s Holiday", human.ShellWord(string(key)))
			}
			s, _, err := decide(f, key)
			if err != nil {
				return err
			}
			e := conversation.New(s.Project)
			id, err := e.Name(ctx, key, rest[0])
			if err != nil {
				return err
			}
			words := fmt.Sprintf("calls session %s %s", id, human.Quote(rest[0]))
			if rest[0] == "" {
				words = fmt.Sprintf("has no name for session %s", id)
			}
			return printChanged(f, e, key, words)
		},
	})
}
