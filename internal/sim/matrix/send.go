package matrix

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"strings"
)

// maxEvent is the longest event, in bytes.
const maxEvent = 65536

// transaction is what a repeated request of a device gets.
type transaction struct {
	event   string
	content map[string]any
}

// isIn refuses what only a member of a room may do. The lock is held.
func (s *Server) isIn(id string) *refusal {
	if r := s.rooms[id]; r == nil || r.members[Bot] != "join" {
		return refused(http.StatusForbidden, "M_FORBIDDEN", "User %s not in room %s", Bot, id)
	}
	return nil
}

// once does a request with a transaction ID, or returns what the first one has got. The lock is held.
func (s *Server) once(r *http.Request, content map[string]any, do func() (*event, *refusal)) (any, *refusal) {
	key := s.device + " " + r.URL.Path
	known, is := s.done[key]
	if is && !reflect.DeepEqual(withoutURL(known.content), withoutURL(content)) {
		s.Fault("transaction %s has two contents: %v, %v", r.PathValue("txn"), known.content["body"], content["body"])
	}
	if !is {
		e, no := do()
		if no != nil {
			return nil, no
		}
		e.txn = r.PathValue("txn")
		known = transaction{e.id, content}
		s.done[key] = known
	}
	return map[string]any{"event_id": known.event}, nil
}

// withoutURL is a content without the address of its file: who sends a file again uploads it again.
func withoutURL(content map[string]any) map[string]any {
	content = maps.Clone(content)
	delete(content, "url")
	return content
}

func (s *Server) send(w http.ResponseWriter, r *http.Request) {
	content, no := body(r)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	room, kind := r.PathValue("room"), r.PathValue("type")
	if no == nil {
		no = s.isIn(room)
	}
	if no != nil {
		no.tell(w)
		return
	}
	result, no := s.once(r, content, func() (*event, *refusal) {
		if no := s.fits(room, kind, content); no != nil {
			return nil, no
		}
		return s.add(event{room: room, sender: Bot, kind: kind, content: content}), nil
	})
	answer(w, result, no)
}

// fits refuses an event that is too large, or begins a thread where none may begin, and notes what is wrong with its
// content. The lock is held.
func (s *Server) fits(room, kind string, content map[string]any) *refusal {
	var whole bytes.Buffer
	encoder := json.NewEncoder(&whole)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(map[string]any{ // as other servers get it, with room for hashes and signatures
		"room_id": room, "sender": Bot, "type": kind, "content": content, "origin_server_ts": 1700000000000, "depth": 100000,
		"auth_events": make([]string, 4), "prev_events": make([]string, 1), "hashes": strings.Repeat("h", 100), "signatures": strings.Repeat("s", 500),
	})
	if whole.Len() > maxEvent {
		return refused(http.StatusRequestEntityTooLarge, "M_TOO_LARGE", "event too large")
	}
	if kind != "m.room.message" {
		s.Fault("send: events of type %q are not known here", kind)
		return nil
	}
	s.message("m.room.message", content, "m.new_content m.relates_to m.mentions")
	return s.related(room, content)
}

// fields are those of each kind of message.
var fields = map[string]string{
	"m.text": "", "m.notice": "", "m.emote": "", "m.image": "url info filename", "m.file": "url info filename", "m.audio": "url info filename", "m.video": "url info filename",
}

// message notes what is wrong with the content of a message. The lock is held.
func (s *Server) message(what string, content map[string]any, more string) {
	kind, _ := content["msgtype"].(string)
	allowed, is := fields[kind]
	if !is {
		s.Fault("%s has the msgtype %q", what, kind)
	}
	s.known(what, content, "msgtype body format formatted_body "+allowed+" "+more)
	if text, is := content["body"].(string); !is || strings.TrimSpace(text) == "" {
		s.Fault("%s has no body", what)
	}
	format, html := content["format"], content["formatted_body"]
	text, isText := html.(string)
	switch {
	case format == nil && html == nil:
	case format != "org.matrix.custom.html" || !isText:
		s.Fault("%s has the format %v without its formatted_body", what, format)
	default:
		for _, wrong := range unsafe(text) {
			s.Fault("%s has HTML that clients drop: %s", what, wrong)
		}
	}
	if allowed == "" {
		return
	}
	if uri, _ := content["url"].(string); s.media[uri].content == nil {
		s.Fault("%s has the url %q, which was not uploaded", what, uri)
	}
}

// related refuses a wrong thread, and notes other wrong relations of a message. The lock is held.
func (s *Server) related(room string, content map[string]any) *refusal {
	kind, to, answers := relation(content)
	if answers != "" && s.find(room, answers) == nil {
		s.Fault("the answered event %s is not in %s", answers, room)
	}
	if relates, is := content["m.relates_to"].(map[string]any); is {
		s.known("m.relates_to", relates, "rel_type event_id m.in_reply_to is_falling_back")
	}
	of := s.find(room, to)
	switch {
	case kind == "":
		return nil
	case of == nil:
		return refused(http.StatusBadRequest, "M_UNKNOWN", "Can't send relation to unknown event: %s", to)
	case kind == "m.thread":
		if before, _, _ := relation(of.content); before != "" {
			return refused(http.StatusBadRequest, "M_UNKNOWN", "Cannot start threads from an event with a relation")
		}
	case kind == "m.replace":
		edited, is := content["m.new_content"].(map[string]any)
		before, _, _ := relation(of.content)
		if !is || answers != "" || of.sender != Bot || of.state != nil || before == "m.replace" {
			s.Fault("the edit of %s does not count: new content %t, an answer %t, of %s, of an edit %t", to, is, answers != "", of.sender, before == "m.replace")
			return nil
		}
		s.message("m.new_content", edited, "m.mentions")
	default:
		s.Fault("rel_type is %q", kind)
	}
	return nil
}

func (s *Server) redact(w http.ResponseWriter, r *http.Request) {
	content, no := body(r)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.known("a redaction", content, "reason")
	room, id := r.PathValue("room"), r.PathValue("event")
	if no == nil {
		no = s.isIn(room)
	}
	if of := s.find(room, id); no == nil && of == nil {
		no = refused(http.StatusNotFound, "M_NOT_FOUND", "Could not find event %s", id)
	} else if no == nil && of.sender != Bot {
		no = refused(http.StatusForbidden, "M_FORBIDDEN", "You don't have permission to redact events")
	}
	if no != nil {
		no.tell(w)
		return
	}
	result, no := s.once(r, content, func() (*event, *refusal) { return s.redacts(room, Bot, id, ""), nil })
	answer(w, result, no)
}

// Typing is what a room was shown about the bot.
type Typing struct {
	Room string
	Is   bool
}

// Shows returns what rooms were shown about the bot, oldest first.
func (s *Server) Shows() []Typing {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return append([]Typing{}, s.typing...)
}

func (s *Server) setTyping(w http.ResponseWriter, r *http.Request) {
	content, no := body(r)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.known("typing", content, "typing timeout")
	is, isBool := content["typing"].(bool)
	if !isBool || r.PathValue("user") != Bot {
		s.Fault("typing: %v of %s", content["typing"], r.PathValue("user"))
	}
	room := r.PathValue("room")
	if no == nil {
		no = s.isIn(room)
	}
	if no == nil {
		s.typing = append(s.typing, Typing{room, is})
		s.Change()
	}
	answer(w, map[string]any{}, no)
}

func (s *Server) join(w http.ResponseWriter, r *http.Request) {
	content, no := body(r)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.known("join", content, "reason third_party_signed")
	room := r.PathValue("room")
	switch known := s.rooms[room]; {
	case no != nil:
	case known == nil:
		no = refused(http.StatusNotFound, "M_NOT_FOUND", "No known servers")
	case known.members[Bot] == "join":
	case known.members[Bot] != "invite":
		no = refused(http.StatusForbidden, "M_FORBIDDEN", "You are not invited to this room.")
	default:
		s.member(room, Bot, Bot, "join")
	}
	answer(w, map[string]any{"room_id": room}, no)
}

func (s *Server) leave(w http.ResponseWriter, r *http.Request) {
	content, no := body(r)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.known("leave", content, "reason")
	room := r.PathValue("room")
	if known := s.rooms[room]; no == nil && (known == nil || known.members[Bot] == "") {
		no = refused(http.StatusNotFound, "M_NOT_FOUND", "Not a known room")
	}
	if no == nil {
		s.member(room, Bot, Bot, "leave")
	}
	answer(w, map[string]any{}, no)
}

func (s *Server) getEvent(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	no := s.isIn(r.PathValue("room"))
	var found map[string]any
	if e := s.find(r.PathValue("room"), r.PathValue("event")); e != nil && no == nil {
		found = maps.Clone(s.render(e, true))
	} else if no == nil {
		no = refused(http.StatusNotFound, "M_NOT_FOUND", "Could not find event")
	}
	answer(w, found, no)
}
