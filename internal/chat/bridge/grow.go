package bridge

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
)

// growing shows an answer in a message while Claude writes it. That is a preview: the answer itself is told by deliver,
// which puts it into the same message. No phone gives notice of an edit, so what has grown for long is told in a new one.
//
// The message begins as an ellipsis. Only when its number is noted, it gets what is written: so that a bridge that ends
// never leaves the half of an answer behind that the next bridge does not know of.
type growing struct {
	b     *Bridge
	c     *chat
	id    string
	since time.Time // when it began; zero: nothing was shown
	stop  func()    // returns when no request is under way
	shows string    // what the message says

	mu    sync.Mutex
	text  string
	tool  string // in words, while a tool runs
	stale bool   // the text is followed by a tool, and not a part of the answer
	heard chan struct{}
}

// growPatience is the time limit of a request that shows how an answer grows: the answer waits for it.
const growPatience = 10 * time.Second

const ellipsis = "…"

// grow begins to show the answer to a message.
func (b *Bridge) grow(ctx context.Context, c *chat, id string) *growing {
	g := &growing{b: b, c: c, id: id, heard: make(chan struct{}, 1)}
	leave := b.Chats.Hear(c.key, id, g.hear)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.run(ctx)
	}()
	g.stop = sync.OnceFunc(func() { leave(); cancel(); <-done })
	return g
}

// hear takes up what Claude does. It does not block.
func (g *growing) hear(p Progress) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case p.Tool != "":
		g.tool, g.stale = running(p), true
	case g.stale:
		g.text, g.tool, g.stale = p.Text, "", false
	default:
		g.text += p.Text
	}
	select {
	case g.heard <- struct{}{}:
	default:
	}
}

// running describes a tool in one line.
func running(p Progress) string {
	const longest = 60 // characters
	words := "Running " + p.Tool
	if what := human.OneLine(human.Legible(p.Text)); what != "" {
		words += ": " + what
	}
	return human.Cut(words, longest, human.Letter) + ellipsis
}

// written returns what was written of the answer, as far as a message goes.
func (g *growing) written() string {
	g.mu.Lock()
	text := strings.TrimSpace(strings.ToValidUTF8(g.text, ""))
	g.mu.Unlock()
	const left = 200 // leaves room for a tool
	return g.b.hide(human.Cut(text, g.b.traits.Longest-left, g.b.traits.Size))
}

// says returns what the message is to say.
func (g *growing) says() string {
	g.mu.Lock()
	tool := g.tool
	g.mu.Unlock()
	return strings.TrimSpace(g.written() + "\n\n" + g.b.hide(tool))
}

// run shows what is heard, until the context ends or the system does not let it.
func (g *growing) run(ctx context.Context) {
	var shown Shown
	for first := true; ; first = false {
		select {
		case <-g.heard:
		case <-ctx.Done():
			return
		}
		pause := g.b.growPause(g.c.place)
		if first { // a short answer is told as quickly
			pause = max(pause, g.b.traits.Grow/2)
			var err error
			if shown, err = g.b.shown(ctx, g.c, g.id); err != nil {
				return
			}
		}
		if clock.Sleep(ctx, pause) != nil || g.show(ctx, &shown) != nil {
			return
		}
	}
}

// show makes the message say what was heard. After an error there is nothing more to show.
func (g *growing) show(ctx context.Context, shown *Shown) error {
	says := g.says()
	if says == "" || says == g.shows || g.c.isBlocked() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), growPatience)
	defer cancel()
	if shown.Message == "" {
		var err error
		if shown.Sent, err = g.b.sendOnce(ctx, g.c.place, rand.Text(), Message{Text: ellipsis, Quiet: true}); err != nil {
			return g.failed(err, FailureOf(err).After > 0) // a message that may have arrived has no number
		}
		if err := g.b.Deliveries.NoteShown(ctx, g.c.key, g.id, *shown); err != nil {
			return g.failed(err, false)
		}
	}
	if g.since.IsZero() {
		g.since = time.Now()
	}
	if err := g.b.editOnce(ctx, shown.Sent, Message{Text: says}); err != nil {
		return g.failed(err, !FailureOf(err).Final)
	}
	g.shows = says
	return nil
}

// failed returns the error of a request, or nil if it is to be made again after a pause.
func (g *growing) failed(err error, again bool) error {
	if !again {
		g.b.log("show a growing answer in %s: %v", g.c.place, err)
		return err
	}
	if asked := FailureOf(err).After; asked > 0 {
		g.b.pause(g.c.place, asked)
	}
	select { // what was heard is still to be shown
	case g.heard <- struct{}{}:
	default:
	}
	return nil
}
