package matrix

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"time"
)

// event is one of a room.
type event struct {
	id, room, kind, sender string
	state                  *string // its state key; nil: it is no state
	content                map[string]any
	at                     time.Time
	before                 map[string]any // of the state: what it was
	txn                    string         // of the bot's device
	redacted               string         // by which event
	number                 int            // its place among the events of all rooms, from 1
}

// room is what the server keeps of a room, beside its events.
type room struct {
	name      string
	members   map[string]string // membership of each user
	encrypted bool
}

// add adds an event. The lock is held.
func (s *Server) add(e event) *event {
	e.number, e.at = len(s.events)+1, time.Now()
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", e.number, e.room))
	e.id = "$" + base64.RawURLEncoding.EncodeToString(sum[:])
	s.events = append(s.events, &e)
	if e.kind == "m.room.member" {
		s.rooms[e.room].members[*e.state], _ = e.content["membership"].(string)
	}
	s.Change()
	return &e
}

// setState adds a state event. The lock is held.
func (s *Server) setState(room, by, kind, key string, content map[string]any) *event {
	return s.add(event{room: room, sender: by, kind: kind, state: &key, content: content})
}

// member adds a membership. The lock is held.
func (s *Server) member(room, by, user, membership string) {
	content := map[string]any{"membership": membership}
	if name := s.names[user]; name != "" {
		content["displayname"] = name
	}
	e := s.setState(room, by, "m.room.member", user, content)
	for _, before := range s.events[:e.number-1] {
		if before.room == room && before.kind == e.kind && *before.state == user {
			e.before = before.content
		}
	}
}

// Know gives a user a display name. Later memberships have it.
func (s *Server) Know(user, name string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.names[user] = name
}

// Room has the first of the members make a room, which the others join. The bot joins if it is one of them.
func (s *Server) Room(id, name string, members ...string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.rooms[id] = &room{name: name, members: map[string]string{}}
	s.setState(id, members[0], "m.room.create", "", map[string]any{"room_version": "11"})
	for _, user := range members {
		s.member(id, user, user, "join")
	}
	s.setState(id, members[0], "m.room.name", "", map[string]any{"name": name})
}

// Invite has a member of a room invite the bot.
func (s *Server) Invite(id, by string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.member(id, by, Bot, "invite")
}

// Join has a user join a room; Leave has them leave it.
func (s *Server) Join(id, user string) { s.set(id, user, user, "join") }

// Leave has a user leave a room.
func (s *Server) Leave(id, user string) { s.set(id, user, user, "leave") }

// Kick has a user throw the bot out of a room.
func (s *Server) Kick(id, by string) { s.set(id, by, Bot, "leave") }

func (s *Server) set(id, by, user, membership string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.member(id, by, user, membership)
}

// Encrypt has a user switch on the encryption of a room.
func (s *Server) Encrypt(id, by string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.rooms[id].encrypted = true
	s.setState(id, by, "m.room.encryption", "", map[string]any{"algorithm": "m.megolm.v1.aes-sha2"})
}

// Membership returns the bot's membership of a room: invite, join, leave.
func (s *Server) Membership(id string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.rooms[id].members[Bot]
}

// joined returns how many users are in a room. The lock is held.
func (r *room) joined() (count int) {
	for _, membership := range r.members {
		if membership == "join" {
			count++
		}
	}
	return count
}

// find returns an event of a room; nil if the room has no such event. The lock is held.
func (s *Server) find(room, id string) *event {
	at := slices.IndexFunc(s.events, func(e *event) bool { return e.room == room && e.id == id })
	if at < 0 {
		return nil
	}
	return s.events[at]
}

// relation returns the relation of an event's content.
func relation(content map[string]any) (kind, to, answers string) {
	relates, _ := content["m.relates_to"].(map[string]any)
	kind, _ = relates["rel_type"].(string)
	to, _ = relates["event_id"].(string)
	reply, _ := relates["m.in_reply_to"].(map[string]any)
	answers, _ = reply["event_id"].(string)
	return kind, to, answers
}

// render is an event as the bot sees it; whole has the room too. The lock is held.
func (s *Server) render(e *event, whole bool) map[string]any {
	unsigned := map[string]any{"age": time.Since(e.at).Milliseconds()}
	about := map[string]any{
		"event_id": e.id, "type": e.kind, "sender": e.sender, "origin_server_ts": e.at.UnixMilli(), "content": maps.Clone(e.content), "unsigned": unsigned,
	}
	if e.state != nil {
		about["state_key"] = *e.state
		if e.before != nil {
			unsigned["prev_content"] = e.before
		}
	}
	if whole {
		about["room_id"] = e.room
	}
	if e.txn != "" {
		unsigned["transaction_id"] = e.txn
	}
	if e.redacted != "" {
		about["content"] = map[string]any{}
		unsigned["redacted_because"] = s.render(s.find(e.room, e.redacted), false)
	}
	if edit := s.latest(e); edit != nil && e.redacted == "" {
		unsigned["m.relations"] = map[string]any{"m.replace": s.render(edit, false)}
	}
	return about
}

// latest returns the last edit of an event; nil if it was not edited. The lock is held.
func (s *Server) latest(e *event) *event {
	for _, edit := range slices.Backward(s.events) {
		kind, to, _ := relation(edit.content)
		if edit.room == e.room && kind == "m.replace" && to == e.id && edit.redacted == "" && edit.sender == e.sender {
			return edit
		}
	}
	return nil
}
