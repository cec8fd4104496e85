package matrix

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
)

// Types of events.
const (
	typeMember     = "m.room.member"
	typeName       = "m.room.name"
	typeEncryption = "m.room.encryption"
	typeReplaced   = "m.room.tombstone"
	typeMessage    = "m.room.message"
	typeEncrypted  = "m.room.encrypted"
	typeSticker    = "m.sticker"
)

// room is what the bot knows of a room that it is in.
type room struct {
	name      string
	members   map[string]string // names of those who are in it, or invited
	encrypted bool
}

// learn takes up what a batch says of the rooms.
func (s *System) learn(b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range b.Rooms.Leave {
		delete(s.rooms, id)
	}
	for id, joined := range b.Rooms.Join {
		r := s.rooms[id]
		if r == nil {
			r = &room{members: map[string]string{}}
			s.rooms[id] = r
		}
		was := s.concerns(id, r.members)
		s.setAll(id, r, joined.State.Events)
		joined.first = maps.Clone(r.members)
		s.setAll(id, r, joined.Timeline.Events)
		joined.concerns = was || s.concerns(id, joined.first) || s.concerns(id, r.members)
		b.Rooms.Join[id] = joined
	}
}

// concerns reports whether a room with these members may be one, or may just have been one, whose messages are taken.
func (s *System) concerns(id string, members map[string]string) bool {
	isMember := func(user string) bool { _, is := members[user]; return is }
	return slices.Contains(s.Rooms, id) || slices.ContainsFunc(s.Users, isMember)
}

// setAll takes up those of the events that are of the state of a room. The lock is held.
func (s *System) setAll(id string, r *room, events []event) {
	for _, e := range events {
		if e.Key != nil {
			s.set(id, r, &e)
		}
	}
}

// set takes up one event of the state of a room. The lock is held.
func (s *System) set(id string, r *room, e *event) {
	switch e.Type {
	case typeName:
		r.name = e.Content.Name
	case typeEncryption:
		r.encrypted = true
	case typeReplaced:
		s.lines.Once("room " + id + " was replaced by room " + human.Quote(e.Content.Replacement) + ": invite the bot there, and allow it")
	case typeMember:
		enter(r.members, *e.Key, &e.Content)
	}
}

// Owner implements [bridge.System]: the room of a user and the bot alone is private. The invited count.
func (s *System) Owner(chat string) (user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rooms[chat]; r != nil {
		return s.owner(r.members)
	}
	return ""
}

// isServed reports whether the messages of a room are taken.
func (s *System) isServed(id string) bool { return s.serves(id, s.Owner(id)) }

// serves reports whether the messages of a room are taken while it is the private chat of its owner, or a group.
func (s *System) serves(id, owner string) bool {
	return slices.Contains(s.Rooms, id) || slices.Contains(s.Users, owner)
}

// person returns who a user is in a room.
func (s *System) person(id, user string) bridge.Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := bridge.Person{ID: user, Handle: user[min(1, len(user)):]}
	if r := s.rooms[id]; r != nil {
		p.Name = r.members[user]
	}
	return p
}

// answerInvitation joins a room into which an allowed user has invited the bot, or which is allowed. Another invitation
// stays as it is.
func (s *System) answerInvitation(ctx context.Context, id string, state []event) {
	by := ""
	for _, e := range state {
		if e.Type == typeMember && e.Key != nil && *e.Key == s.me {
			by = e.Sender
		}
	}
	s.acks.invited(id, by) // the homeserver shows it once
	if !slices.Contains(s.Rooms, id) && !slices.Contains(s.Users, by) {
		s.lines.Once("user " + by + " has invited the bot into room " + id + ": neither is allowed, so it does not join")
		return
	}
	s.workers.Go(func() { s.join(ctx, id, by) }) // the server of the room may be down for long
}

// join joins a room, until it has or must not.
func (s *System) join(ctx context.Context, id, by string) {
	wait := bridge.Backoff(time.Second)
	for {
		err := s.call(ctx, http.MethodPost, ofRoom(id, "join"), map[string]any{}, nil)
		if err == nil || bridge.FailureOf(err).Final {
			s.acks.invited(id, "")
		}
		switch {
		case err == nil:
			s.lines.Printf("joined room %s: user %s has invited the bot", id, by)
			return
		case ctx.Err() != nil:
			return
		case bridge.FailureOf(err).Final:
			s.lines.Printf("join room %s: %v", id, err)
			return
		}
		s.lines.Printf("join room %s: %v: it is tried again", id, err)
		if clock.Sleep(ctx, max(wait.NextBackOff(), bridge.FailureOf(err).After)) != nil {
			return
		}
	}
}

// sayEncrypted says, once in a room, that the bot cannot read what is written there.
func (s *System) sayEncrypted(ctx context.Context, id string) {
	if !s.isServed(id) {
		return
	}
	s.lines.Once("room " + id + " is encrypted, and the bot cannot read encrypted messages: use a room without encryption")
	if s.acks.isNoted(id) {
		return
	}
	const words = "This room is encrypted, and I cannot read encrypted messages, so I get nothing of what is written here. Invite me into a room without encryption."
	_, err := s.Send(ctx, bridge.Place{Chat: id}, "encrypted:"+id, bridge.Message{Text: words, Quiet: true})
	if err != nil && !bridge.FailureOf(err).Final { // the next message there tries again
		s.lines.Printf("write to room %s: %v", id, err)
		return
	}
	s.acks.note(id)
}
