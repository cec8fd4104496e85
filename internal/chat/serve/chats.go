package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
)

// Chats gives a bridge the conversations of a server, and the notes on what was delivered to the chats.
type Chats struct {
	Server     *Server
	Notes      *deliveries.Drawer
	Prompt     string        // the system prompt of new and reset conversations
	Model      agent.Model   // of the same conversations; "": Claude's choice
	ContextCmd string        // a program whose output Claude gets with each text; "": no program
	Enrich     bool          // see [conversations.Request]
	DailyLimit float64       // of a chat, in US dollars; 0: no limit
	Silence    time.Duration // see [conversations.Request]

	Rights conversations.Rights // of the turns of all chats
}

var (
	_ bridge.Chats      = (*Chats)(nil)
	_ bridge.Deliveries = (*Chats)(nil)
)

// Accept implements [bridge.Chats].
func (c *Chats) Accept(ctx context.Context, m bridge.Incoming) error {
	key := conversations.Key(m.Key)
	meta, err := c.meta(ctx, key)
	if err != nil {
		return err
	}
	t, err := c.Server.Accept(ctx, key, conversation.Say{Meta: meta, Request: conversations.Request{
		ID: m.ID, Text: m.Text, Context: m.Context, ContextCmd: c.ContextCmd, Enrich: c.Enrich, OnLost: conversation.LostFresh, Silence: c.Silence,
		Files:      agent.Mapped(m.Files, toFile),
		DailyLimit: c.DailyLimit, At: c.Server.Engine.Project.Now().UTC(),
	}})
	if err != nil {
		return err
	}
	return c.Notes.Put(deliveries.Note{
		ID: m.ID, Key: m.Key, Seq: t.Seq, State: deliveries.Accepted, At: c.Server.Engine.Project.Now().UTC(),
		Parts: m.Parts, Messages: numbersOf(m.Messages), Said: deliveries.SumOf(m.Text),
	})
}

// reasonOther is the reset reason, shown in the chat, when a system prompt or model differs from the bot's.
const reasonOther = "the bot has another system prompt or model now"

// meta returns the Meta of a new conversation. It first resets one whose system prompt or model differs from the bot's,
// unless turns wait in it: they were requested with the old settings.
func (c *Chats) meta(ctx context.Context, key conversations.Key) (conversations.Meta, error) {
	meta, err := c.Server.Engine.Founding()
	if err != nil {
		return meta, err
	}
	if err := c.permit(ctx, key); err != nil {
		return meta, err
	}
	meta.SystemPrompt, meta.Model, meta.Rights = c.Prompt, c.Model, c.Rights
	state, err := c.Server.Engine.Project.Store.Conversations().Of(key).State()
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && state.IsUnused():
		return meta, nil
	case err != nil:
		return meta, err
	}
	other := state.Meta
	ours := func(m *conversations.Meta) error {
		m.SystemPrompt, m.Model = cmp.Or(c.Prompt, m.SystemPrompt), cmp.Or(c.Model, m.Model)
		return nil
	}
	if err = ours(&other); other == state.Meta || len(state.Open) > 0 {
		return state.Meta, err
	}
	_, err = c.Server.Engine.Reset(ctx, key, reasonOther, ours)
	return other, err
}

// Ahead implements [bridge.Chats].
func (c *Chats) Ahead(_ context.Context, key, id string) (int, error) {
	state, err := c.Server.Engine.Project.Store.Conversations().Of(conversations.Key(key)).State()
	return max(0, slices.IndexFunc(state.Open, func(t conversations.Turn) bool { return t.ID == id })), err
}

// Answer implements [bridge.Chats].
func (c *Chats) Answer(ctx context.Context, key, id string, told bridge.Answer) (bridge.Answer, error) {
	var known *conversations.Held
	if told.Held {
		known = &conversations.Held{Class: told.Class, Reason: told.Error, Until: told.RetryAt, Mends: told.Mends}
		if err := c.noteHeld(id, known); err != nil {
			return bridge.Answer{}, err
		}
	}
	o, err := c.Server.Outcome(ctx, conversations.Key(key), id, known)
	switch {
	case err != nil:
		return bridge.Answer{}, err
	case o.Held != nil:
		note, _, err := c.Notes.Get(id)
		return bridge.Answer{
			Class: o.Held.Class, Error: o.Held.Reason, Held: true, RetryAt: o.Held.Until,
			Mends: o.Held.Mends, Known: note.Held != "" && note.Held == causeOf(o.Held),
		}, err
	}
	r := o.Result
	answer := bridge.Answer{
		Text: r.Answer, Continuity: r.Continuity, Reason: r.Reason, Notice: r.Notice, PreviousSessionID: string(r.PreviousSessionID),
		Class: r.Class, Error: r.Error, Acted: human.And(r.Acted),
	}
	if r.Reason == conversation.ReasonAsked { // the chat was told when it asked for the reset
		answer.Continuity = conversations.New
	}
	if r.Class == conversation.ClassLost {
		answer.Class = "unknown_session"
	}
	answer.Files = c.named(r.Answer, r.At.Add(-time.Duration(r.DurationMS)*time.Millisecond), r.At)
	return answer, nil
}

// noteHeld records that the chat was told why its message is held. So it is told once, also if the server is started
// again before the cause has ended.
func (c *Chats) noteHeld(id string, told *conversations.Held) error {
	return c.Notes.Change(id, func(n *deliveries.Note) { n.Held = causeOf(told) })
}

// Hear implements [bridge.Chats].
func (c *Chats) Hear(key, id string, heard func(bridge.Progress)) (leave func()) {
	return c.Server.Hear(conversations.Key(key), id, func(p conversation.Progress) { heard(bridge.Progress(p)) })
}

// Reset implements [bridge.Chats]. It gives up turns that wait for a person: a user who starts over does not wait for
// them.
func (c *Chats) Reset(ctx context.Context, key, id string) (previousID string, err error) {
	state, there, err := c.state(key)
	if err != nil || !there {
		return "", err
	}
	before, err := c.begun(id, key, string(state.Session.ID))
	if err != nil || before != string(state.Session.ID) { // an earlier bridge has done it
		return before, err
	}
	of := c.Server.Engine.Project.Store.Conversations().Of(conversations.Key(key))
	for _, t := range state.Open {
		if t.Held == nil || !t.Held.NeedsPerson() {
			break
		}
		if err := of.Skip(ctx, t.Seq, "a new conversation was begun"); err != nil && fail.KindOf(err) != fail.Conflict {
			return "", err
		}
	}
	ours := func(m *conversations.Meta) error {
		m.SystemPrompt, m.Model, m.Rights = c.Prompt, c.Model, c.Rights
		return nil
	}
	if _, err := c.Server.Engine.Reset(ctx, conversations.Key(key), conversation.ReasonAsked, ours); err != nil {
		return "", err
	}
	c.Server.changed()
	c.Server.Wake()
	return before, nil
}

// waits says what an open turn does, in words for those who write there.
var waits = map[string]string{
	conversation.Dead: "waits for a person at the machine", conversation.Later: "is tried again later",
	conversation.Running: "is being answered", conversation.Queued: "waits for its turn",
}

// Status implements [bridge.Chats].
func (c *Chats) Status(_ context.Context, key string) (string, error) {
	state, there, err := c.state(key)
	if err != nil || !there {
		return nothingSaid, err
	}
	lines := []string{"No session yet."}
	if state.Session.ID != "" {
		lines[0] = "Session " + string(state.Session.ID) + "."
	}
	lines = append(lines, human.Count(state.Answered, "message")+" answered.")
	waiting, err := c.Server.Engine.Open(&state)
	for _, w := range waiting {
		words := fmt.Sprintf("Message %d %s", w.Seq, waits[w.Word])
		switch {
		case w.Held != nil:
			words += ": " + heldWords(w.Held)
		case w.Refusal != "":
			words += ": " + w.Refusal
		}
		lines = append(lines, words+".")
	}
	lines = append(lines, c.waitingFor(key)...)
	untold, unread := c.Notes.Untold(key)
	for _, n := range untold {
		lines = append(lines, fmt.Sprintf("The answer to message %d could not be delivered: %s.", n.Seq, n.Untold))
	}
	return strings.Join(lines, "\n"), errors.Join(err, unread)
}

// Undelivered implements [bridge.Deliveries].
func (c *Chats) Undelivered(context.Context) ([]bridge.Unfinished, error) {
	notes, err := c.Notes.Open()
	var open []bridge.Unfinished
	for _, n := range notes {
		u := bridge.Unfinished{Key: n.Key, ID: n.ID}
		if n.Command != "" {
			messages := agent.Mapped(n.Messages, func(m deliveries.Number) string { return string(m) })
			u.Noted = &bridge.Incoming{Key: n.Key, ID: n.ID, Text: n.Command, Context: n.Context, Messages: messages}
		}
		if n.State == deliveries.Accepted || n.State == deliveries.Telling || u.Noted != nil {
			open = append(open, u)
		}
	}
	return open, err
}

// NoteWaiting implements [bridge.Deliveries].
func (c *Chats) NoteWaiting(_ context.Context, m bridge.Incoming) (over bool, err error) {
	n, there, err := c.Notes.Get(m.ID)
	switch {
	case err != nil || n.Command != "":
		return n.State == deliveries.Over, err
	case there: // by an earlier version
		n.State = deliveries.Begun
	default:
		n = deliveries.Note{ID: m.ID, Key: m.Key, State: deliveries.Waits, Context: m.Context, Messages: numbersOf(m.Messages)}
	}
	n.Command, n.At = m.Text, c.Server.Engine.Project.Now().UTC()
	return false, c.Notes.Put(n)
}

// NoteTelling implements [bridge.Deliveries].
func (c *Chats) NoteTelling(_ context.Context, key, id string) (again bool, err error) {
	err = c.Notes.Update(id, func(n *deliveries.Note, there bool) {
		if again = n.State == deliveries.Telling; again {
			return
		}
		if !there {
			n.ID, n.Key = id, key
		}
		n.State, n.At = deliveries.Telling, c.Server.Engine.Project.Now().UTC()
	})
	return again && err == nil, err
}

// NoteReplying implements [bridge.Deliveries]. The note is not that of a message: its answer would be told.
func (c *Chats) NoteReplying(_ context.Context, key, id string) (again, over bool, err error) {
	n, there, err := c.Notes.Get(id)
	if err != nil || there && n.State != deliveries.Waits {
		return there, n.State == deliveries.Over, err
	}
	n.ID, n.Key, n.State, n.At = id, key, deliveries.Begun, c.Server.Engine.Project.Now().UTC()
	return false, false, c.Notes.Put(n)
}

// Shown implements [bridge.Deliveries].
func (c *Chats) Shown(_ context.Context, _, id string) (bridge.Shown, error) {
	n, _, err := c.Notes.Get(id)
	return bridge.Shown{Sent: bridge.Sent{Message: string(n.Growing), Chat: string(n.GrowsIn)}, Parts: n.Told}, err
}

// NoteShown implements [bridge.Deliveries].
func (c *Chats) NoteShown(_ context.Context, _, id string, s bridge.Shown) error {
	return c.Notes.Change(id, func(n *deliveries.Note) {
		n.Growing, n.GrowsIn, n.Told = deliveries.Number(s.Message), deliveries.Number(s.Chat), s.Parts
	})
}

// NoteDelivered implements [bridge.Deliveries].
func (c *Chats) NoteDelivered(_ context.Context, key, id, untold string) error {
	err := c.Notes.Update(id, func(n *deliveries.Note, _ bool) {
		n.ID, n.Key, n.State, n.Untold, n.At = id, key, deliveries.Over, untold, c.Server.Engine.Project.Now().UTC()
	})
	c.Server.changed() // what came after it can be told
	return err
}
