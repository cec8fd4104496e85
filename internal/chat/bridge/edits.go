package bridge

import (
	"context"

	"nbs-worker/internal/platform/clock"
)

// takeEdit changes a message that waits. If Claude has it already, the chat is told.
func (b *Bridge) takeEdit(ctx context.Context, c *chat, m incoming) {
	if _, _, isCommand := b.command(m.Text); isCommand || m.Text == "" {
		m.done()
		return
	}
	if m.update.File != nil && m.update.File.Voice {
		if !m.isFor || b.say(ctx, c, "I cannot change the words of a voice message. Write the change as a new message.") == nil {
			m.done()
		}
		return
	}
	// A part of a text that was too long for one message is not all of it. A caption is all that an album says.
	whole := m.update.isCaption()
	wait := Backoff(b.Pause)
	for {
		edit, err := b.Chats.Edit(ctx, m.Incoming, whole)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && edit == EditLate:
			if b.say(ctx, c, "The edit came too late: Claude has the message as it was. Write the change as a new message.") != nil {
				return
			}
		case err == nil && edit == EditPart:
			if b.say(ctx, c, "This is a part of a longer message, and I cannot change it there. Write the change as a new message.") != nil {
				return
			}
		case err != nil && !isRefusal(err):
			b.log("edit a message of %s: %v: it is tried again", c.place, err)
			if clock.Sleep(ctx, wait.NextBackOff()) != nil {
				return
			}
			continue
		case err != nil:
			b.log("edit a message of %s: %v", c.place, err)
		}
		m.done()
		return
	}
}
