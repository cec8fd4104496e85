package telegram

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// toEdit returns the bot's message that a call names. The lock is held.
func (s *Server) toEdit(p params) (*Message, *refusal) {
	c, refused := s.target(p)
	if refused != nil {
		return nil, refused
	}
	m := s.find(c.id, p.number("message_id"))
	switch {
	case !p.has("message_id"):
		return nil, bad("message identifier is not specified")
	case m == nil:
		return nil, bad("message to edit not found")
	case !m.Bot:
		return nil, bad("message can't be edited")
	}
	return m, nil
}

func (s *Server) editMessageText(p params) (any, *refusal) {
	return s.edit(p, "text", "entities")
}

func (s *Server) editMessageCaption(p params) (any, *refusal) {
	return s.edit(p, "caption", "caption_entities")
}

func (s *Server) edit(p params, text, entities string) (any, *refusal) {
	m, refused := s.toEdit(p)
	if refused != nil {
		return nil, refused
	}
	if (m.Media == nil) != (text == "text") {
		return nil, bad("there is no %s in the message to edit", text)
	}
	changed := *m
	if refused := s.setText(&changed, p, text, entities); refused != nil {
		return nil, refused
	}
	return s.changeTo(m, changed, p)
}

func (s *Server) editMessageReplyMarkup(p params) (any, *refusal) {
	m, refused := s.toEdit(p)
	if refused != nil {
		return nil, refused
	}
	return s.changeTo(m, *m, p)
}

// changeTo replaces a message by what it is to be, with the keyboard of the call: without one it has none.
func (s *Server) changeTo(m *Message, changed Message, p params) (any, *refusal) {
	var refused *refusal
	if changed.Buttons, refused = s.keyboard(p.get("reply_markup")); refused != nil {
		return nil, refused
	}
	if changed.Text == m.Text && same(changed.Entities, m.Entities) && same(changed.Buttons, m.Buttons) {
		return nil, bad("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	changed.Before = append(slices.Clone(m.Before), m.Text)
	changed.Edited = time.Now()
	*m = changed
	return s.render(*m), nil
}

// same reports whether two lists have the same elements.
func same[T any](a, b []T) bool { return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b) }

func (s *Server) deleteMessage(p params) (any, *refusal) {
	c, refused := s.target(p)
	if refused != nil {
		return nil, refused
	}
	m := s.find(c.id, p.number("message_id"))
	switch {
	case m == nil:
		return nil, bad("message to delete not found")
	case !m.Bot && c.kind != "private" && c.bot != "administrator":
		return nil, bad("message can't be deleted")
	}
	m.Deleted = true
	return true, nil
}

// reactions are the emoji that a bot can react with.
const reactions = "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡"

func (s *Server) setMessageReaction(p params) (any, *refusal) {
	c, refused := s.target(p)
	if refused != nil {
		return nil, refused
	}
	var list []struct{ Type, Emoji string }
	if err := json.Unmarshal([]byte(p.get("reaction")), &list); p.has("reaction") && err != nil {
		return nil, bad("can't parse reaction types JSON object")
	}
	m := s.find(c.id, p.number("message_id"))
	switch {
	case m == nil:
		return nil, bad("message to react not found")
	case len(list) > 1:
		return nil, bad("REACTIONS_TOO_MANY")
	case len(list) == 0:
		m.Reaction = ""
	case list[0].Type != "emoji" || !slices.Contains(strings.Fields(reactions), list[0].Emoji):
		return nil, bad("REACTION_INVALID")
	default:
		m.Reaction = list[0].Emoji
	}
	return true, nil
}
