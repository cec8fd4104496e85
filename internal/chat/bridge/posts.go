package bridge

import (
	"context"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Post is a message of the bridge's own that is sent once and may be changed later, as what it is about goes on.
type Post struct {
	Title   string   // words of the bridge
	Body    string   // lines that are shown as they are, as far as they fit
	Whole   string   // follows a body that was cut: how to see it whole
	Outcome string   // what became of it; "": it is open
	Choices []Choice // as long as it is open
}

// mostBody is how much of a post's body is shown at most, in units of Traits.Size. A longer one is not read on a phone.
const mostBody = 3000

// Post sends a post to the chat of a key. The same id is sent once. If it may have been sent before a crash, the post
// says so. Errors: as of [Bridge.Tell]; BadInput (the chat may not know of agents); those of Deliveries.
func (b *Bridge) Post(ctx context.Context, key, id string, p Post) error {
	again, over, err := b.Deliveries.NoteReplying(ctx, key, id)
	if err != nil || over {
		return err
	}
	shown, err := b.Deliveries.Shown(ctx, key, id)
	if err != nil || shown.Message != "" {
		return err
	}
	if b.traits.Learns { // whether the chat is a group
		if err := b.awaitKnown(ctx); err != nil {
			return err
		}
	}
	m := b.posted(&p)
	if again && !b.isOnce(b.traits.LastRun) {
		m.Before = PerhapsAgain
	}
	var sent Sent
	err = b.writeTo(ctx, key, func(to Place) error {
		if !b.reaches(b.isGroup(to.Chat)) {
			return fail.Errorf(fail.BadInput, "%s", b.isOff("/agents", b.isGroup(to.Chat)))
		}
		return b.persist(ctx, to, func(perhapsAgain bool) (err error) {
			if perhapsAgain {
				m.Before = PerhapsAgain
			}
			sent, err = b.sendOnce(ctx, to, id, m)
			return err
		})
	})
	if err != nil {
		return err
	}
	return b.Deliveries.NoteShown(context.WithoutCancel(ctx), key, id, Shown{Sent: sent})
}

// Change makes a post that was sent say something else. It does nothing if the post was not sent, or is gone from the
// chat. To do so once more changes nothing. Errors: as of [Bridge.Post].
func (b *Bridge) Change(ctx context.Context, key, id string, p Post) error {
	shown, err := b.Deliveries.Shown(ctx, key, id)
	if err != nil || shown.Message == "" {
		return err
	}
	return b.writeTo(ctx, key, func(to Place) error {
		_, err := b.rewrite(ctx, to, shown.Sent, b.posted(&p))
		return err
	})
}

// posted returns the message of a post. Its body is cut until it is one message.
func (b *Bridge) posted(p *Post) Message {
	var parts []Message
	for most := min(mostBody, b.traits.Longest/2); len(parts) != 1 && most > 0; most /= 2 {
		parts = b.System.Format(b.piecesOf(p, most)...)
	}
	if len(parts) == 0 {
		return Message{Text: "(empty)"}
	}
	m := parts[0]
	if p.Outcome == "" {
		m.Choices = p.Choices
	}
	return m
}

func (b *Bridge) piecesOf(p *Post, most int) []Piece {
	pieces := []Piece{b.plain(p.Title)}
	body, isCut := b.fitted(p.Body, most)
	if body != "" {
		fence := fenceOf(body)
		pieces = append(pieces, b.markdown(fence+"\n"+body+"\n"+fence))
	}
	if isCut {
		pieces = append(pieces, b.plain(p.Whole))
	}
	if p.Outcome != "" {
		pieces = append(pieces, b.plain(p.Outcome))
	}
	return pieces
}

// fitted returns the part of a body that is shown: of at most a size, to the end of a line if that leaves enough.
func (b *Bridge) fitted(body string, most int) (shown string, isCut bool) {
	end := human.Prefix(body, most, b.traits.Size)
	if end == len(body) {
		return body, false
	}
	shown = body[:end]
	if line := strings.LastIndexByte(shown, '\n'); line > end/2 {
		shown = shown[:line]
	}
	return strings.TrimRight(shown, "\n") + "\n" + ellipsis, true
}

// fenceOf returns a fence for a block of Markdown that the lines of a text do not end.
func fenceOf(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// writeTo calls send with the place of a key once it may be written to, and it is its turn.
func (b *Bridge) writeTo(ctx context.Context, key string, send func(to Place) error) error {
	to, err := b.System.ParseKey(key)
	if err == nil && b.traits.Learns && !b.isAllowed(to.Chat) {
		if err := b.awaitKnown(ctx); err != nil {
			return err
		}
	}
	to.Chat = b.home(to.Chat)
	if err == nil && !b.isAllowed(to.Chat) {
		err = fail.Errorf(fail.BadInput, "write to %s: it is not allowed", to)
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	turn := b.turnOf(to)
	b.mu.Unlock()
	err = turn.during(ctx, func() error { return send(to) })
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fail.Errorf(fail.KindOf(err), "write to %s: %s", to, b.hide(err.Error()))
}

// awaitKnown waits until it is known which chats are whose. Errors: the context's.
func (b *Bridge) awaitKnown(ctx context.Context) error {
	select {
	case <-b.known:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
