package serve

import (
	"context"
	"errors"
	"io/fs"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
)

// Interrupt implements [bridge.Chats]. It also ends what Claude does after its answer. A note names the turn before that is
// stopped: a command that comes again finds it there, and stops no later one.
func (c *Chats) Interrupt(ctx context.Context, key, id, why string, isBehind func(id string) bool) (bridge.Interruption, error) {
	of := c.Server.Engine.Project.Store.Conversations().Of(conversations.Key(key))
	note, noted, err := c.Notes.Get(id)
	if err != nil {
		return bridge.Interruption{}, err
	}
	if !noted {
		state, err := of.State()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return bridge.Interruption{}, err
		}
		note = deliveries.Note{ID: id, Key: key, State: deliveries.Over, At: c.Server.Engine.Project.Now().UTC()}
		if current := c.Server.Engine.Current(&state); current != nil && !isBehind(current.ID) {
			note.Seq, note.Text = current.Seq, current.ID
		}
		if err := c.Notes.Put(note); err != nil {
			return bridge.Interruption{}, err
		}
	}
	if note.Seq == 0 {
		return bridge.Interruption{}, nil
	}
	stopped, err := c.Server.Engine.Interrupt(ctx, conversations.Key(key), note.Seq, why)
	result := &stopped.Result
	if fail.KindOf(err) == fail.NotFound { // it is not open any more
		var there bool
		if *result, there, err = of.Result(note.Text); err == nil && !there {
			return bridge.Interruption{Ended: true}, nil
		}
	}
	if fail.KindOf(err) == fail.Held {
		err = heldError(of, note.Seq, err)
	}
	if err != nil {
		return bridge.Interruption{}, err
	}
	c.Server.changed()
	c.Server.Wake()
	if stopped.After != "" {
		if stopped.Told {
			return bridge.Interruption{Is: true, Told: true}, nil
		}
		return bridge.Interruption{Is: true, After: stopped.After}, nil // another process began it, and tells no chat
	}
	if turn.Class(result.Class) != turn.Interrupted || result.Error != why {
		return bridge.Interruption{Ended: true}, nil
	}
	return bridge.Interruption{Is: true, Acted: human.And(result.Acted)}, nil
}
