package bridge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
)

// Options are the options of a bridge.
type Options struct {
	System  System
	Allowed []string            // chats; in a group, all members share one conversation
	Users   []string            // who may write in those, and in their own chat with the bot; empty: all members
	UsersIn map[string][]string // who may write in one chat, in place of Users

	InPrivate, InGroups bool // where the commands work that reach agents or files of the project

	Answers []string // the users who may answer what agents ask; empty: no one

	AllInGroups bool // take all messages of groups, not only those for the bot

	Chats      Chats
	Deliveries Deliveries
	Menu       Menu
	Team       Team
	Log        func(line string) // lines for the operator; called by several goroutines

	Transcribe func(ctx context.Context, path string) (string, error) // of a voice message; nil: none is taken

	Settle   time.Duration  // how long a part of a message is waited for; 1 s when zero
	Pause    time.Duration  // before the first of several attempts; 1 s when zero. The longest is a minute
	InPlace  time.Duration  // for so long the answer stays in the message in which it grew; 15 s when zero
	Leave    time.Duration  // how long an upload may go on when the bridge ends; 20 s when zero
	Location *time.Location // of the times in messages; the machine's when nil
}

// Bridge connects a chat system with conversations.
type Bridge struct {
	Options
	traits Traits
	lines  *Log
	bot    Bot // set once the bridge runs

	known   chan struct{}        // closed once it is known which chats are whose, and what became of them
	pasting map[writer]time.Time // who may go on with a text, and until when; only take uses it

	mu    sync.Mutex
	chats map[Place]*chat
	turns map[Place]turn
	moves []Move // of chats
	paces map[string]pace

	workers sync.WaitGroup
}

// New creates a bridge; it opens no connection.
func New(opts Options) *Bridge {
	if opts.Settle == 0 {
		opts.Settle = settle
	}
	if opts.Pause == 0 {
		opts.Pause = time.Second
	}
	if opts.InPlace == 0 {
		opts.InPlace = 15 * time.Second
	}
	if opts.Leave == 0 {
		opts.Leave = 20 * time.Second
	}
	if opts.Location == nil {
		opts.Location = time.Local
	}
	traits := opts.System.Traits()
	return &Bridge{
		Options: opts, traits: traits, lines: NewLog(traits.Name, opts.System.Hide, opts.Log),
		known: make(chan struct{}), chats: map[Place]*chat{}, turns: map[Place]turn{}, paces: map[string]pace{}, pasting: map[writer]time.Time{},
	}
}

// Run serves until the context ends, which is no error. It finishes a message that is then being sent. Call it once.
// Errors: Held (the system does not accept the bot), those of Deliveries.
func (b *Bridge) Run(ctx context.Context) error {
	defer b.System.Close()
	if len(b.Allowed) == 0 && len(b.Users) == 0 {
		b.log("no chat is allowed yet, so none is served; the number of a chat that writes is logged here")
	}
	err := b.serve(ctx)
	if ctx.Err() != nil {
		err = nil
	}
	return err
}

func (b *Bridge) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer b.workers.Wait()
	defer cancel()
	if err := b.introduce(ctx); err != nil {
		return err
	}
	b.workers.Go(func() { b.greet(ctx) })
	b.workers.Go(func() { b.setMenu(ctx) })
	if err := b.takeUp(ctx); err != nil {
		return err
	}
	return b.listen(ctx)
}

// introduce gets the bot's name, which also verifies its access.
func (b *Bridge) introduce(ctx context.Context) error {
	wait := Backoff(b.Pause)
	for {
		asking, end := context.WithTimeout(ctx, patience)
		bot, err := b.System.Start(asking)
		end()
		switch {
		case err == nil:
			b.bot = bot
			return nil
		case fail.KindOf(err) == fail.Held:
			return err
		}
		b.once("reach " + b.traits.Title + ": " + err.Error() + ": it is tried again")
		if err := clock.Sleep(ctx, retryAfter(err, wait)); err != nil {
			return err
		}
	}
}

// listen takes what the chats write, until the context ends.
func (b *Bridge) listen(ctx context.Context) error {
	wait := Backoff(b.Pause)
	for {
		updates, err := b.System.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case fail.KindOf(err) == fail.Held:
			return err
		case err != nil:
			b.log("ask %s for messages: %v: it is tried again", b.traits.Title, err)
			if err := clock.Sleep(ctx, retryAfter(err, wait)); err != nil {
				return err
			}
			continue
		}
		wait.Reset()
		for i := range updates {
			b.take(ctx, &updates[i])
		}
	}
}

// takeUp continues with the messages that an earlier bridge accepted and did not answer, and then with those that it noted.
func (b *Bridge) takeUp(ctx context.Context) error {
	moves, err := b.Deliveries.Moves(ctx)
	if err != nil {
		return fmt.Errorf("take up the chats of %s: %w", b.traits.Title, err)
	}
	for _, m := range moves {
		b.learn(m)
	}
	close(b.known)
	messages, err := b.Deliveries.Undelivered(ctx)
	if err != nil {
		return fmt.Errorf("take up messages from %s: %w", b.traits.Title, err)
	}
	noted := func(m Unfinished) bool { return m.Noted != nil }
	messages = append(slices.DeleteFunc(slices.Clone(messages), noted), slices.DeleteFunc(messages, func(m Unfinished) bool { return !noted(m) })...)
	for _, m := range messages {
		if !strings.HasPrefix(m.Key, b.traits.Name+":") {
			continue // of another bridge
		}
		at, err := b.System.ParseKey(m.Key)
		if err != nil || !b.isAllowed(at.Chat) {
			b.once("the chat of conversation " + human.Quote(m.Key) + " is not allowed any more: its answers are not told")
			continue
		}
		if c := b.chat(ctx, at); m.Noted == nil {
			c.expect(m.ID)
		} else {
			c.enqueue(incoming{Incoming: *m.Noted, update: &Update{}, group: b.isGroup(at.Chat), isFor: true, noted: true, done: func() {}})
		}
	}
	return nil
}

// Tell writes to the chat of a key unasked, as notify does. It also works while the bridge does not run, unless the system
// learns whose the chat is. While the system is unreachable, it waits until the context ends. Errors: BadInput (it is not a chat, or not allowed), NotFound (it
// blocked the bot), Held (the group became another chat), Failed.
func (b *Bridge) Tell(ctx context.Context, key, text string) error {
	return b.tell(ctx, key, b.plain(text))
}

// Relay is Tell for what Claude said.
func (b *Bridge) Relay(ctx context.Context, key, text string) error {
	return b.tell(ctx, key, b.markdown(text))
}

func (b *Bridge) tell(ctx context.Context, key string, text Piece) error {
	return b.writeTo(ctx, key, func(to Place) error { return b.send(ctx, to, text) })
}

func (b *Bridge) hide(text string) string { return b.System.Hide(text) }
