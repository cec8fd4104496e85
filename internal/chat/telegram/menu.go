package telegram

import (
	"context"

	"nbs-worker/internal/chat/bridge"
)

// SetMenu implements [bridge.System].
func (s *System) SetMenu(ctx context.Context, groups bool, commands []bridge.MenuEntry) error {
	scope := "all_private_chats"
	if groups {
		scope = "all_group_chats"
	}
	menu := []map[string]string{}
	for _, c := range commands {
		menu = append(menu, map[string]string{"command": c.Name, "description": c.What})
	}
	return failed(s.call(ctx, "setMyCommands", map[string]any{"commands": menu, "scope": map[string]string{"type": scope}}, nil))
}

// keyboard returns choices as buttons below a message.
func keyboard(choices []bridge.Choice) map[string]any {
	rows := make([][]map[string]string, len(choices))
	for i, choice := range choices {
		rows[i] = []map[string]string{{"text": choice.Label, "callback_data": choice.Command}}
	}
	return map[string]any{"inline_keyboard": rows}
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
func (s *System) confirm(ctx context.Context, p *press) {
	s.confirms.Go(func() {
		asking, end := context.WithTimeout(ctx, patience)
		defer end()
		_ = s.call(asking, "answerCallbackQuery", map[string]any{"callback_query_id": p.ID}, nil)
	})
}
