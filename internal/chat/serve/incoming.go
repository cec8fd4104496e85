package serve

import (
	"cmp"
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
)

// longestType is the longest type of a file that its sender may name: Claude reads it.
const longestType = 100 // characters

// Keep implements [bridge.Chats].
func (c *Chats) Keep(_ context.Context, key, id string, n int, f bridge.File, content []byte) (bridge.File, string, error) {
	media, _, _ := strings.Cut(http.DetectContentType(content), ";")
	isImage := turn.IsImage(media)
	if said, _, err := mime.ParseMediaType(f.Type); err == nil && len(said) <= longestType && !isImage {
		media = said
	}
	f.Type, f.Shown = media, isImage && len(content) <= turn.ImageLimit
	of := c.Server.Engine.Project.Store.Conversations().Of(conversations.Key(key))
	kept, err := of.KeepFile(id, n, toFile(f), content)
	return bridge.File(kept), of.FilePath(kept), err
}

// Edit implements [bridge.Chats].
func (c *Chats) Edit(ctx context.Context, m bridge.Incoming, whole bool) (bridge.Edit, error) {
	note, there, err := c.Notes.WithMessage(m.Key, deliveries.Number(m.Messages[0]))
	if err != nil || !there {
		return bridge.EditIgnored, err
	}
	// A note of its own: the writer of the other one may be at it.
	edited := deliveries.Note{ID: note.ID + " edited", Key: m.Key, State: deliveries.Over, Said: deliveries.SumOf(m.Text), At: c.Server.Engine.Project.Now().UTC()}
	before, _, err := c.Notes.Get(edited.ID)
	if err != nil || cmp.Or(before.Said, note.Said) == edited.Said {
		return bridge.EditIgnored, err
	}
	if note.State == deliveries.Over {
		return bridge.EditLate, nil
	}
	if len(note.Messages) > 1 && !whole {
		state, _, err := c.state(m.Key)
		queued := func(t conversations.Turn) bool { return t.ID == note.ID && len(t.Starts) == 0 }
		if err == nil && slices.ContainsFunc(state.Open, queued) {
			return bridge.EditPart, nil
		}
		return bridge.EditLate, err
	}
	done, err := c.Server.Engine.Replace(ctx, conversations.Key(m.Key), note.ID, m.Text)
	switch {
	case err == nil && !done && c.says(m.Key, note.Seq, m.Text): // an earlier server has replaced it
	case fail.KindOf(err) == fail.NotFound || err == nil && !done: // it is over, or Claude has it
		return bridge.EditLate, nil
	case err != nil:
		return bridge.EditIgnored, err
	}
	return bridge.EditTaken, c.Notes.Put(edited)
}

// says reports whether an open turn has a text.
func (c *Chats) says(key string, seq int, text string) bool {
	request, err := c.Server.Engine.Project.Store.Conversations().Of(conversations.Key(key)).Request(seq)
	return err == nil && request.Text == text
}

// Accepted implements [bridge.Deliveries].
func (c *Chats) Accepted(_ context.Context, m bridge.Incoming) (parts []string, untold bool, err error) {
	n, _, err := c.Notes.Get(m.ID)
	if err == nil && n.State == deliveries.Joined {
		n, _, err = c.Notes.Get(n.Text)
	}
	if err != nil {
		return nil, false, err
	}
	if parts = n.Parts; len(parts) == 0 {
		parts = []string{cmp.Or(n.ID, m.ID)}
	}
	if !slices.Contains(parts, m.ID) {
		return nil, false, nil
	}
	switch n.State {
	case deliveries.Accepted, deliveries.Telling, deliveries.Over:
		return parts, false, nil
	case "", deliveries.Gathered:
		seq := c.seq(m.Key, parts[0])
		if seq == 0 {
			return nil, false, nil
		}
		// A server was killed after it had accepted the message. What comes again may not be the same: a further part,
		// or other words of the program that writes down a voice message.
		return parts, true, c.Notes.Put(deliveries.Note{
			ID: parts[0], Key: m.Key, Seq: seq, State: deliveries.Accepted, At: c.Server.Engine.Project.Now().UTC(),
			Parts: n.Parts, Messages: numbersOf(m.Messages),
		})
	case deliveries.Waits, deliveries.Begun, deliveries.Joined, deliveries.Moved:
	}
	return nil, false, nil
}

// seq returns the number of the turn with an id; 0 when there is no such turn. A conversation that cannot be read says
// so when it is to accept a message.
func (c *Chats) seq(key, id string) int {
	result, state, err := c.Server.Engine.Project.Store.Conversations().Of(conversations.Key(key)).Look(id)
	switch {
	case err != nil:
		return 0
	case result != nil:
		return result.Seq
	}
	at := slices.IndexFunc(state.Open, func(t conversations.Turn) bool { return t.ID == id })
	return state.Open[at].Seq
}

// NoteParts implements [bridge.Deliveries].
func (c *Chats) NoteParts(_ context.Context, key string, ids []string) error {
	now := c.Server.Engine.Project.Now().UTC()
	err := c.Notes.Put(deliveries.Note{ID: ids[0], Key: key, State: deliveries.Gathered, Parts: ids, At: now})
	for _, id := range ids[1:] {
		if err == nil {
			err = c.Notes.Put(deliveries.Note{ID: id, Key: key, State: deliveries.Joined, Text: ids[0], At: now})
		}
	}
	return err
}

// Moves implements [bridge.Deliveries].
func (c *Chats) Moves(context.Context) ([]bridge.Move, error) {
	notes, err := c.Notes.Open()
	var moves []bridge.Move
	for _, n := range notes {
		if move, is := moveOf(n); is {
			moves = append(moves, move)
		}
	}
	return moves, err
}

const ownConversation = " with a conversation of its own"

func moveOf(n deliveries.Note) (m bridge.Move, is bool) {
	if n.State != deliveries.Moved {
		return m, false
	}
	m.From = n.Key
	m.To, m.Own = strings.CutSuffix(n.Text, ownConversation)
	return m, true
}

// home returns the key of the conversation that a chat has: a group that became another chat has kept its own.
func (s *Server) home(key string) string {
	notes, _ := s.Engine.Project.Store.Deliveries().Open() // one that cannot be read is reported when the bridge starts
	for _, n := range notes {
		if topic, is := strings.CutPrefix(key, n.Text); is && n.State == deliveries.Moved && (topic == "" || topic[0] == '/') {
			return n.Key + topic
		}
	}
	return key
}

// NoteMove implements [bridge.Deliveries]. The journal of the conversation stays where it is: only the address of its
// chat changes, in one file.
func (c *Chats) NoteMove(_ context.Context, from, to string) (bridge.Move, error) {
	system, chat, _ := strings.Cut(from, ":")
	note := deliveries.Note{ID: system + ":moved:" + chat, Key: from, Text: to}
	known, there, err := c.Notes.Get(note.ID)
	if err != nil {
		return bridge.Move{}, err
	}
	if there {
		move, _ := moveOf(known)
		return move, nil
	}
	keys, err := c.Server.Engine.Project.Store.Conversations().Keys()
	if err != nil {
		return bridge.Move{}, err
	}
	if slices.Contains(keys, conversations.Key(note.Text)) {
		note.Text += ownConversation
	}
	note.State, note.At = deliveries.Moved, c.Server.Engine.Project.Now().UTC()
	move, _ := moveOf(note)
	return move, c.Notes.Put(note)
}

func toFile(f bridge.File) conversations.File { return conversations.File(f) }

func numbersOf(messages []string) []deliveries.Number {
	return agent.Mapped(messages, func(m string) deliveries.Number { return deliveries.Number(m) })
}
