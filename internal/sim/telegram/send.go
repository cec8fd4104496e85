package telegram

import (
	"bytes"
	"encoding/json"
	"image"
	_ "image/gif"  // sizes of what is uploaded
	_ "image/jpeg" //
	_ "image/png"  //
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Longest texts, in UTF-16 code units.
const (
	maxText    = 4096
	maxCaption = 1024
)

// target returns the chat of a call. The lock is held.
func (s *Server) target(p params) (*chat, *refusal) {
	if !p.has("chat_id") {
		return nil, bad("chat_id is empty")
	}
	id, err := strconv.ParseInt(p.get("chat_id"), 10, 64)
	c := s.chat(id)
	switch {
	case err != nil || c == nil:
		return nil, bad("chat not found")
	case c.moved != 0:
		return nil, movedTo(c.moved)
	case c.bot == "kicked" && c.kind == "private":
		return nil, &refusal{code: http.StatusForbidden, why: "Forbidden: bot was blocked by the user"}
	case c.bot == "kicked" || c.bot == "left":
		return nil, &refusal{code: http.StatusForbidden, why: "Forbidden: bot was kicked from the " + c.kind + " chat"}
	}
	return c, nil
}

// begun returns a message of the bot's to the chat, the topic and the message that a call names. The lock is held.
func (s *Server) begun(p params) (Message, *refusal) {
	c, refused := s.target(p)
	if refused != nil {
		return Message{}, refused
	}
	m := Message{Chat: c.id, Bot: true, From: botNumber, Topic: p.number("message_thread_id"), ParseMode: p.get("parse_mode"), Quiet: p.is("disable_notification")}
	if m.Topic != 0 {
		t := c.topics[m.Topic]
		switch {
		case t == nil || t.gone: // also for the first topic of a forum, whose messages have no number
			return m, bad("message thread not found")
		case t.closed && c.bot != "administrator":
			return m, bad("TOPIC_CLOSED")
		}
	}
	if refused := s.answered(&m, p.get("reply_parameters")); refused != nil {
		return m, refused
	}
	m.Buttons, refused = s.keyboard(p.get("reply_markup"))
	return m, refused
}

// answered sets what a message answers. The lock is held.
func (s *Server) answered(m *Message, parameters string) *refusal {
	if parameters == "" {
		return nil
	}
	var reply struct {
		MessageID int    `json:"message_id"`
		Anyway    bool   `json:"allow_sending_without_reply"`
		Quote     string `json:"quote"`
	}
	if err := json.Unmarshal([]byte(parameters), &reply); err != nil {
		return bad("can't parse reply parameters: %v", err)
	}
	s.known("ReplyParameters", parameters, "message_id chat_id allow_sending_without_reply quote quote_parse_mode quote_entities quote_position checklist_task_id")
	to := s.find(m.Chat, reply.MessageID)
	switch {
	case to == nil && reply.Anyway:
		return nil
	case to == nil:
		return bad("message to be replied not found")
	case reply.Quote != "" && (!strings.Contains(to.Text, reply.Quote) || units(reply.Quote) > maxCaption):
		return bad("QUOTE_TEXT_INVALID")
	}
	m.ReplyTo, m.Quote = reply.MessageID, reply.Quote
	if m.Topic == 0 {
		m.Topic = to.Topic // an answer is where its question is
	}
	return nil
}

// known notes fields of a JSON object that the Bot API does not know. The lock is held.
func (s *Server) known(what, object, fields string) {
	var values map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &values) != nil {
		return
	}
	for name := range values {
		if !slices.Contains(strings.Fields(fields), name) {
			s.Fault("%s has no field %q", what, name)
		}
	}
}

func (s *Server) sendMessage(p params) (any, *refusal) {
	m, refused := s.begun(p)
	if refused != nil {
		return nil, refused
	}
	if refused := s.setText(&m, p, "text", "entities"); refused != nil {
		return nil, refused
	}
	return s.render(s.keep(m)), nil
}

// setText sets the text of a message, and its entities. The lock is held.
func (s *Server) setText(m *Message, p params, name, entities string) *refusal {
	text, marks, refused := s.parse(p.get(name), p.get("parse_mode"), p.get(entities))
	switch {
	case refused != nil:
		return refused
	case name == "caption" && units(text) > maxCaption:
		return bad("message caption is too long")
	case name == "text" && text == "":
		return bad("message text is empty")
	case name == "text" && units(text) > maxText:
		return bad("message is too long")
	}
	m.Text, m.Entities, m.ParseMode = text, marks, p.get("parse_mode")
	return nil
}

func (s *Server) sendDocument(p params) (any, *refusal) { return s.sendFile(p, "document") }

func (s *Server) sendPhoto(p params) (any, *refusal) { return s.sendFile(p, "photo") }

func (s *Server) sendFile(p params, kind string) (any, *refusal) {
	m, refused := s.begun(p)
	if refused != nil {
		return nil, refused
	}
	file, is := p.files[strings.TrimPrefix(p.get(kind), "attach://")]
	if !is {
		file, is = p.files[kind]
	}
	switch held := s.files[p.get(kind)]; {
	case is:
		m.Media = &Media{Kind: kind, Name: file.name, Content: file.content}
	case held != nil:
		m.Media = &Media{Kind: kind, Content: held.content, Size: held.size, ID: held.id}
	case p.has(kind):
		return nil, bad("wrong file identifier/HTTP URL specified")
	default:
		return nil, bad("there is no %s in the request", kind)
	}
	switch {
	case len(m.Media.Content) == 0 && m.Media.Size == 0:
		return nil, bad("file must be non-empty")
	case kind == "photo" && is:
		if refused := isPicture(file.content); refused != nil {
			return nil, refused
		}
	}
	if refused := s.setText(&m, p, "caption", "caption_entities"); refused != nil {
		return nil, refused
	}
	return s.render(s.keep(m)), nil
}

// isPicture refuses what Telegram does not take as a photo.
func isPicture(content []byte) *refusal {
	if len(content) > maxPhoto {
		return bad("file of size %d bytes is too big for a photo; the maximum size is %d bytes", len(content), maxPhoto)
	}
	size, kind, err := image.DecodeConfig(bytes.NewReader(content))
	switch {
	case err != nil && http.DetectContentType(content) == "image/webp":
		return nil
	case err != nil || kind == "":
		return bad("IMAGE_PROCESS_FAILED")
	case size.Width+size.Height > 10000 || max(size.Width, size.Height) > 20*min(size.Width, size.Height):
		return bad("PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}

// actions are what a chat can be shown about the bot.
const actions = "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker find_location record_video_note upload_video_note"

func (s *Server) sendChatAction(p params) (any, *refusal) {
	c, refused := s.target(p)
	topic := p.number("message_thread_id")
	switch {
	case refused != nil:
		return nil, refused
	case !slices.Contains(strings.Fields(actions), p.get("action")):
		return nil, bad("wrong parameter action in request")
	case topic != 0 && (!c.forum || topic != general && (c.topics[topic] == nil || c.topics[topic].gone)):
		return nil, bad("message thread not found")
	}
	s.shown = append(s.shown, Shown{c.id, topic, p.get("action")})
	return true, nil
}

// Shown is what a chat was shown about the bot: typing, for instance.
type Shown struct {
	Chat   int64
	Topic  int
	Action string
}

// Shows returns what was shown about the bot, oldest first.
func (s *Server) Shows() []Shown {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.shown)
}
