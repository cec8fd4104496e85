package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/conversation/telegram"
	"nbs-worker/internal/launch"
	"nbs-worker/internal/message"
	"nbs-worker/internal/serve"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/supervisor"
)

// chatOptions are those of the bridge to Telegram.
type chatOptions struct {
	tokenFile  string
	allowed    []int64
	url        string
	prompt     string
	promptFile string
	model      string
	contextCmd string
}

func (o *chatOptions) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.tokenFile, "telegram-token-file", "", "serve the chats of the bot whose token is in this file (or in $NBS_TELEGRAM_TOKEN)")
	flags.Int64SliceVar(&o.allowed, "telegram-chat", nil, "a chat that is served, by its number; may be repeated")
	flags.StringVar(&o.url, "telegram-url", "", "where the Bot API is, for tests")
	flags.StringVar(&o.prompt, "system-prompt", "", "what Claude is in chats that begin, or are reset")
	flags.StringVar(&o.promptFile, "system-prompt-file", "", "read the system prompt from this file")
	flags.StringVar(&o.model, "model", "", "of chats that begin, or are reset")
	flags.StringVar(&o.contextCmd, "context-cmd", "", "a program whose output Claude is told beside each text of a chat")
	_ = flags.MarkHidden("telegram-url")
	cmd.MarkFlagsMutuallyExclusive("system-prompt", "system-prompt-file")
}

// takeToken takes the token out of the environment, so that nothing that is started later has it.
// is false when no bridge is wanted.
func (o *chatOptions) takeToken() (token telegram.Token, is bool, err error) {
	if o.tokenFile == "" && os.Getenv(telegram.TokenVariable) == "" && len(o.allowed) == 0 {
		return token, false, nil
	}
	if token, err = telegram.ReadToken(o.tokenFile); err != nil {
		return token, false, err
	}
	return token, true, os.Unsetenv(telegram.TokenVariable)
}

// bridge makes the bridge of a server.
func (o *chatOptions) bridge(f *factory, s *supervisor.Supervisor, server *serve.Server, token telegram.Token) error {
	chats := &serve.Chats{Server: server, Notes: s.Store.Deliveries(), Prompt: o.prompt}
	var err error
	if o.promptFile != "" {
		if chats.Prompt, err = readText("system prompt", o.promptFile, f.streams.In); err != nil {
			return err
		}
	}
	if o.model != "" {
		if chats.Model, err = agent.ParseModel(o.model); err != nil {
			return err
		}
	}
	if o.contextCmd != "" {
		if chats.ContextCmd, err = filepath.Abs(o.contextCmd); err != nil {
			return err
		}
	}
	bridge, err := telegram.New(telegram.Options{
		Token: token, Allowed: o.allowed, URL: o.url, Chats: chats, Deliveries: chats,
		Team: &chatTeam{s, message.Sender{Supervisor: s}, chats.Notes}, Log: func(line string) { f.say("%s", line) },
	})
	if err != nil {
		return err
	}
	server.Beside = append(server.Beside, bridge.Run)
	server.Tell = func(ctx context.Context, to, text string) error {
		chat, err := chatOf(to)
		if err != nil {
			return err
		}
		return bridge.Tell(ctx, chat, text)
	}
	return nil
}

// chatOf is the number of a chat, by the key of its conversation. Errors: BadInput.
func chatOf(key string) (int64, error) {
	number, is := strings.CutPrefix(key, "telegram:")
	chat, err := strconv.ParseInt(number, 10, 64)
	if !is || err != nil {
		return 0, agent.Errorf(agent.BadInput, "%s is no chat", agent.Quote(key)).Hint("for example: telegram:123456789")
	}
	return chat, nil
}

// chatTeam is the agents of the project as a chat knows them. Who is in an allowed chat speaks as the user does.
type chatTeam struct {
	*supervisor.Supervisor

	sender message.Sender
	notes  *deliveries.Drawer
}

// Agents tells who is there.
func (t *chatTeam) Agents(ctx context.Context) (string, error) {
	rows, err := t.List(ctx)
	if err != nil || len(rows) == 0 {
		return "There are no agents.", err
	}
	var lines []string
	for i := range rows {
		state, cause := rows[i].Status.Words()
		if cause != "" {
			state += " (" + cause + ")"
		}
		lines = append(lines, fmt.Sprintf("%s: %s", rows[i].Handle, state))
	}
	return strings.Join(lines, "\n"), nil
}

// Send writes to an agent, or keeps the text in its outbox. One that was begun before, and of which nobody knows how
// far it came, is not sent again.
func (t *chatTeam) Send(ctx context.Context, to, id, text string) (string, error) {
	handle, err := agent.ParseHandle(to)
	if err != nil {
		return "", err
	}
	note, there, err := t.notes.Get(id)
	switch {
	case err != nil:
		return "", err
	case there && note.State == deliveries.Over:
		return note.Text, nil
	case there:
		return fmt.Sprintf("I was interrupted while sending it to %s: it has it, or it waits in its outbox, or it was lost. Look before you send it again.", handle), nil
	}
	note = deliveries.Note{ID: id, Key: "@" + string(handle), State: deliveries.Begun, At: t.Now().UTC()}
	if err := t.notes.Put(note); err != nil {
		return "", err
	}
	receipt, err := t.sender.Send(ctx, handle, message.Message{Text: text, Queue: true})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	switch {
	case err != nil:
		note.Text = "It was not sent: " + err.Error() + "."
	case receipt.Outbox != "" && receipt.Word == message.Held:
		note.Text = fmt.Sprintf("It waits in the outbox of %s: %s.", receipt.Handle, receipt.Reason)
	default:
		note.Text = fmt.Sprintf("%s has it (%s).", receipt.Handle, receipt.Word)
	}
	note.State = deliveries.Over
	if noted := t.notes.Put(note); noted != nil {
		return "", noted
	}
	return note.Text, err
}

// Resume brings an agent back.
func (t *chatTeam) Resume(ctx context.Context, to string) (string, error) {
	handle, err := agent.ParseHandle(to)
	if err != nil {
		return "", err
	}
	started, err := t.Supervisor.Resume(ctx, handle, supervisor.Resume{Start: launch.Start{Wait: readyWait}})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is back, in %s.", handle, started.Record.SessionID), nil
}
