package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
)

var _ bridge.Menu = (*Chats)(nil)

const nothingSaid = "Nothing was said yet."

// state returns the state of a chat's conversation; there is false if nothing was said in it yet.
func (c *Chats) state(key string) (state conversations.State, there bool, err error) {
	state, err = c.Server.Engine.Project.Store.Conversations().Of(conversations.Key(key)).State()
	if errors.Is(err, fs.ErrNotExist) {
		return state, false, nil
	}
	return state, err == nil, err
}

// Sessions implements [bridge.Menu].
func (c *Chats) Sessions(_ context.Context, key string) (text string, choices []bridge.Choice, err error) {
	state, there, err := c.state(key)
	if err != nil || !there {
		return nothingSaid, nil, err
	}
	lines := []string{"No session yet."}
	if id := state.Session.ID; id != "" {
		lines[0] = "Now: " + titleOf(&state, id) + "."
	}
	const most = 10 // of the latest
	for i := range min(most, len(state.Previous)) {
		p := state.Previous[len(state.Previous)-1-i]
		lines = append(lines, fmt.Sprintf("%d. %s, until %s", i+1, titleOf(&state, p.ID), c.clock(p.Until)))
		choices = append(choices, bridge.Choice{Label: fmt.Sprintf("%d. %s", i+1, titleOf(&state, p.ID)), Command: "/sessions " + string(p.ID)})
	}
	if len(choices) == 0 {
		lines = append(lines, "There is no earlier one.")
	}
	return strings.Join(lines, "\n"), choices, nil
}

// titleOf returns what a chat calls a session: its name, or the beginning of its id.
func titleOf(state *conversations.State, id agent.SessionID) string {
	if id == "" { // it was reset, and nothing was said since
		return "a new conversation"
	}
	return cmp.Or(state.Names[id], string(id)[:8])
}

func (c *Chats) clock(at time.Time) string { return at.In(time.Local).Format("2 January, 15:04") }

// Back implements [bridge.Menu].
func (c *Chats) Back(ctx context.Context, key, id, named string) (string, error) {
	state, there, err := c.state(key)
	if err != nil || !there {
		return nothingSaid, err
	}
	before, err := c.begun(id, key, string(state.Session.ID))
	if err != nil {
		return "", err
	}
	if before != string(state.Session.ID) { // an earlier bridge has done it
		return "Back in " + titleOf(&state, state.Session.ID) + ".", nil
	}
	to, err := c.Server.Engine.Restore(ctx, conversations.Key(key), named)
	if fail.KindOf(err) == fail.NotFound {
		return fmt.Sprintf("I cannot go back: %s.", err), nil
	}
	if err != nil {
		return "", err
	}
	return "Back in " + titleOf(&state, to) + ": Claude knows again what was said there.", nil
}

// begun notes that a command is carried out, and what was there before it. Of a command that comes again it returns
// what was noted the first time.
func (c *Chats) begun(id, key, before string) (string, error) {
	note, noted, err := c.Notes.Get(id)
	if err != nil || noted && note.State != deliveries.Waits {
		return note.Text, err
	}
	note.ID, note.Key, note.State, note.Text = id, key, deliveries.Begun, before
	if !noted { // else it would be behind the messages that were noted behind it
		note.At = c.Server.Engine.Project.Now().UTC()
	}
	return before, c.Notes.Put(note)
}

// Rename implements [bridge.Menu].
func (c *Chats) Rename(ctx context.Context, key, name string) (string, error) {
	id, err := c.Server.Engine.Name(ctx, conversations.Key(key), name)
	switch fail.KindOf(err) {
	case fail.NotFound:
		return nothingSaid, nil
	case fail.BadInput:
		return "This is no name: use one line of at most 60 characters.", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("This session (%s) is called %s. /sessions lists all.", string(id)[:8], human.Quote(name)), nil
}

// ChooseModel implements [bridge.Menu].
func (c *Chats) ChooseModel(ctx context.Context, key, name string) (string, error) {
	state, there, err := c.state(key)
	if err != nil || !there {
		return nothingSaid, err
	}
	own := cmp.Or(string(state.Meta.Model), "Claude's choice")
	if name == "" {
		return fmt.Sprintf("The model is %s. For another one: /model NAME, for example %s. To go back to %s: /model default",
			cmp.Or(string(state.Model), own), strings.Join(agent.ModelAliases()[:3], ", "), own), nil
	}
	model := agent.Model("")
	if name != "default" {
		if model, err = agent.ChooseModel(name); err != nil {
			return fmt.Sprintf("The model stays: %s.", err), nil
		}
	}
	if err := c.Server.Engine.Project.Store.Conversations().Of(conversations.Key(key)).Choose(ctx, model); err != nil {
		return "", err
	}
	return fmt.Sprintf("The model of the next messages is %s.", cmp.Or(string(model), own)), nil
}

// Usage implements [bridge.Menu].
func (c *Chats) Usage(_ context.Context, key string) (string, error) {
	state, there, err := c.state(key)
	if err != nil || !there {
		return nothingSaid, err
	}
	today := fmt.Sprintf("Today: $%.2f", state.SpentSince(c.Server.Engine.Today()))
	if c.DailyLimit > 0 {
		today += fmt.Sprintf(" of $%.2f", c.DailyLimit)
	}
	return fmt.Sprintf("The last answer: $%.2f\n%s\nIn all: $%.2f, %s", state.LastUSD, today, state.TotalUSD, human.Count(state.Answered, "message")), nil
}
