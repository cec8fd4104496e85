package telegram

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Button is one below a message of the bot's.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data,omitempty"`
	URL  string `json:"url,omitempty"`
}

const (
	maxData    = 64  // bytes of a button
	maxButtons = 100 // of a message
)

// keyboard reads the inline keyboard of a call, and refuses what Telegram refuses. The lock is held.
func (s *Server) keyboard(markup string) ([][]Button, *refusal) {
	if markup == "" {
		return nil, nil
	}
	s.known("reply_markup", markup, "inline_keyboard keyboard is_persistent resize_keyboard one_time_keyboard input_field_placeholder selective remove_keyboard force_reply")
	var read struct {
		Rows [][]json.RawMessage `json:"inline_keyboard"`
	}
	if err := json.Unmarshal([]byte(markup), &read); err != nil {
		return nil, bad("object expected as reply markup")
	}
	var rows [][]Button
	count := 0
	for _, row := range read.Rows {
		var buttons []Button
		for _, raw := range row {
			s.known("InlineKeyboardButton", string(raw), "text url callback_data web_app login_url switch_inline_query switch_inline_query_current_chat "+
				"switch_inline_query_chosen_chat copy_text callback_game pay icon_custom_emoji_id style")
			var b Button
			switch err := json.Unmarshal(raw, &b); {
			case err != nil:
				return nil, bad("can't parse inline keyboard button: %v", err)
			case strings.TrimSpace(b.Text) == "":
				return nil, bad("can't parse inline keyboard button: Field \"text\" must be of type String")
			case b.Data == "" && b.URL == "":
				return nil, bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
			case len(b.Data) > maxData:
				return nil, bad("BUTTON_DATA_INVALID")
			}
			buttons = append(buttons, b)
			count++
		}
		rows = append(rows, buttons)
	}
	if count > maxButtons {
		return nil, bad("REPLY_MARKUP_TOO_LONG")
	}
	if count == 0 {
		return nil, nil
	}
	return rows, nil
}

// Answered is the bot's answer to a button that was pressed.
type Answered struct {
	Done  bool
	Text  string
	Alert bool
}

// Answered returns the bot's answer to a query that Press made.
func (s *Server) Answered(query string) Answered {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return *s.queries[query]
}

func newQuery(n int) string { return fmt.Sprintf("4295%015d", n) }

func (s *Server) answerCallbackQuery(p params) (any, *refusal) {
	query := s.queries[p.get("callback_query_id")]
	const longest = 200
	switch {
	case query == nil || query.Done:
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	case units(p.get("text")) > longest:
		return nil, bad("MESSAGE_TOO_LONG")
	}
	*query = Answered{Done: true, Text: p.get("text"), Alert: p.is("show_alert")}
	return true, nil
}

// Command is one of the bot's menu.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// Commands returns the bot's menu of a scope: default, all_private_chats, all_group_chats.
func (s *Server) Commands(scope string) []Command {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.commands[`{"type":"`+scope+`"}`])
}

// scopeOf is whom a menu is for: a scope and a language.
func scopeOf(p params) string {
	scope := p.get("scope")
	if scope == "" {
		scope = `{"type":"default"}`
	}
	return scope + p.get("language_code")
}

func (s *Server) setMyCommands(p params) (any, *refusal) {
	var commands []Command
	if err := json.Unmarshal([]byte(p.get("commands")), &commands); err != nil {
		return nil, bad("can't parse commands list JSON object")
	}
	const most, longestName, longestDescription = 100, 32, 256
	for _, c := range commands {
		switch {
		case c.Command == "" || len(c.Command) > longestName || strings.Trim(c.Command, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
			return nil, bad("BOT_COMMAND_INVALID")
		case c.Description == "" || units(c.Description) > longestDescription:
			return nil, bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	if len(commands) > most {
		return nil, bad("BOT_COMMANDS_TOO_MUCH")
	}
	s.commands[scopeOf(p)] = commands
	return true, nil
}

func (s *Server) getMyCommands(p params) (any, *refusal) {
	return append([]Command{}, s.commands[scopeOf(p)]...), nil
}

func (s *Server) deleteMyCommands(p params) (any, *refusal) {
	delete(s.commands, scopeOf(p))
	return true, nil
}
