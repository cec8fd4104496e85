package bridge

import "context"

// take passes an update to its chat.
func (b *Bridge) take(ctx context.Context, u *Update) {
	if u.At == (Place{}) || !b.takeMove(ctx, u.Move) && !b.isHeard(u) {
		u.Done()
		return
	}
	if u.Taken != nil {
		u.Taken()
	}
	in := b.incoming(u)
	if u.isService() || !in.isFor && !b.mayBelong(u) {
		in.done()
		return
	}
	b.notePaste(u)
	b.pass(ctx, b.chat(ctx, b.place(u)), in)
}

// isService reports whether a message has no content of a user's: someone joined, a message was pinned.
func (u *Update) isService() bool { return u.Text == "" && u.Unreadable == "" && u.File == nil }

// place returns the place whose conversation an update belongs to.
func (b *Bridge) place(u *Update) Place { return Place{b.home(u.At.Chat), u.At.Topic} }

// isOfGroup reports whether a message was written in a group.
func (u *Update) isOfGroup() bool { return u.Owner == "" }

// isHeard reports whether the chat and the writer of an update are allowed. It holds for every kind of update. The chat
// counts as what it was when the message was written: by now others may have joined it.
func (b *Bridge) isHeard(u *Update) bool {
	switch {
	case !b.allows(u.At.Chat, u.Owner):
		b.once("chat " + u.At.Chat + " is not allowed: what it writes is dropped")
	case !b.maySpeak(u):
		b.once("user " + u.From.ID + " is not allowed in chat " + u.At.Chat + ": what they write is dropped")
	default:
		return true
	}
	return false
}

// incoming returns the message of an update for its chat.
func (b *Bridge) incoming(u *Update) incoming {
	return incoming{
		Incoming: Incoming{
			Key: b.key(b.place(u)), ID: u.ID, Text: u.Text, Context: b.contextOf(u), Messages: []string{u.Number},
		},
		update: u, updates: []*Update{u}, group: u.isOfGroup(), isFor: b.isFor(u), isEdit: u.IsEdit, done: u.Done,
	}
}

// isCaption reports whether the text of a message belongs to what it has besides.
func (u *Update) isCaption() bool { return u.File != nil || u.Unreadable != "" }
