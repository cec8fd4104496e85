package telegram

import (
	"context"
	"strings"
)

// setMenu gives Telegram's apps the list of commands. Without it the commands work too.
func (b *Bridge) setMenu(ctx context.Context) {
	for scope, group := range map[string]bool{"all_private_chats": false, "all_group_chats": true} {
		menu := []map[string]string{}
		for _, c := range b.allowedCommands(group) {
			menu = append(menu, map[string]string{"command": strings.TrimPrefix(c.name, "/"), "description": c.what})
		}
		asking, end := context.WithTimeout(ctx, patience)
		err := b.call(asking, "setMyCommands", map[string]any{"commands": menu, "scope": map[string]string{"type": scope}}, nil)
		end()
		if err != nil && ctx.Err() == nil {
			b.log("set the menu of the commands: %v", err)
		}
	}
}

// sayChoices says a text with choices below it. The error is the context's.
func (b *Bridge) sayChoices(ctx context.Context, c *chat, text string, choices []Choice) error {
	if len(choices) == 0 {
		return b.say(ctx, c, text)
	}
	rows := make([][]map[string]string, len(choices))
	for i, choice := range choices {
		rows[i] = []map[string]string{{"text": choice.Label, "callback_data": choice.Command}}
	}
	params := c.place.with(map[string]any{"text": text, "reply_markup": map[string]any{"inline_keyboard": rows}})
	_ = b.write(ctx, c, func() error {
		return b.persist(ctx, c.place, func(bool) error { return b.call(ctx, "sendMessage", params, nil) })
	})
	return ctx.Err()
}

// press is a button that a user has pressed, below a message of the bot's.
type press struct {
	ID      string   `json:"id"`
	From    user     `json:"from"`
	Message *message `json:"message"`
	Data    string   `json:"data"` // the command of the choice
}

// typed returns the message that a press stands for: its user writes the command of the choice where the button is. nil
// if the button is gone.
func (p *press) typed() *message {
	if p == nil || p.Message == nil {
		return nil
	}
	m := *p.Message
	m.From, m.Text, m.Entities, m.ReplyTo = p.From, p.Data, nil, nil
	return &m
}

// confirm ends the waiting that Telegram's app shows at a pressed button. If that fails, the app ends it by itself.
func (b *Bridge) confirm(ctx context.Context, p *press) {
	b.workers.Go(func() {
		asking, end := context.WithTimeout(ctx, patience)
		defer end()
		_ = b.call(asking, "answerCallbackQuery", map[string]any{"callback_query_id": p.ID}, nil)
	})
}

func (b *Bridge) sessions(ctx context.Context, c *chat, m incoming, named string) (reply, error) {
	if named != "" {
		return b.goBack(ctx, c, m, named)
	}
	text, choices, err := b.Menu.Sessions(ctx, c.key)
	return reply{text, choices}, err
}

// goBack makes an earlier session the present one, after the messages before were answered.
func (b *Bridge) goBack(ctx context.Context, c *chat, m incoming, named string) (reply, error) {
	if err := b.awaitAnswers(ctx, c, "going back"); err != nil {
		return reply{}, err
	}
	return says(b.Menu.Back(ctx, c.key, m.ID, named))
}

func (b *Bridge) rename(ctx context.Context, c *chat, _ incoming, name string) (reply, error) {
	if name == "" {
		return reply{text: "Write: /name NAME"}, nil
	}
	return says(b.Menu.Rename(ctx, c.key, name))
}
