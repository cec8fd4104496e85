package telegram

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/chat/telegram/format"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
)

// Options are the options of a bridge.
type Options struct {
	Token    Token
	Allowed  []int64 // chats; in a group, all members share one conversation
	Users    []int64 // who may write in those, and in their own chat with the bot; empty: all members
	InGroups bool    // allow the commands for agents in groups too

	AllInGroups bool // take all messages of groups, not only those for the bot

	Chats      Chats
	Deliveries Deliveries
	Menu       Menu
	Team       Team
	Log        func(line string) // lines for the operator; called by several goroutines

	Transcribe func(ctx context.Context, path string) (string, error) // of a voice message; nil: none is taken

	URL      string         // of the Bot API; https://api.telegram.org when empty
	Poll     time.Duration  // how long Telegram waits for a message before it answers without one; 50 s when zero
	Settle   time.Duration  // how long a part of a message is waited for; 1 s when zero
	Pause    time.Duration  // before the first of several attempts; 1 s when zero. The longest is a minute
	Upload   time.Duration  // the time limit of a request with a file; 10 min when zero
	Grow     time.Duration  // how often an answer grows at most, and in a group a third of that; 2 s when zero
	InPlace  time.Duration  // for so long the answer stays in the message in which it grew; 15 s when zero
	Location *time.Location // of the times in messages; the machine's when nil
}

// Bridge connects Telegram with conversations.
type Bridge struct {
	Options
	client *http.Client
	me     Me // set once the bridge runs

	pasting map[writer]time.Time // who may go on with a text, and until when; only take uses it

	mu    sync.Mutex
	chats map[Place]*chat
	moves []Move
	paces map[int64]pace
	noted map[string]bool // lines that are logged once

	workers sync.WaitGroup
	acks    *acks
}

// New creates a bridge; it opens no connection. Errors: BadInput.
func New(opts Options) (*Bridge, error) {
	if opts.Token.text == "" {
		return nil, fail.Errorf(fail.BadInput, "set up Telegram: there is no token")
	}
	if opts.URL == "" {
		opts.URL = "https://api.telegram.org"
	}
	opts.URL = strings.TrimSuffix(opts.URL, "/")
	if u, err := url.Parse(opts.URL); err != nil || u.Host == "" {
		return nil, fail.Errorf(fail.BadInput, "set up Telegram: %s is no URL", human.Quote(opts.URL))
	}
	if opts.Poll == 0 {
		opts.Poll = 50 * time.Second
	}
	if opts.Settle == 0 {
		opts.Settle = settle
	}
	if opts.Pause == 0 {
		opts.Pause = time.Second
	}
	if opts.Upload == 0 {
		opts.Upload = uploadPatience
	}
	if opts.Grow == 0 {
		opts.Grow = 2 * time.Second
	}
	if opts.InPlace == 0 {
		opts.InPlace = 15 * time.Second
	}
	if opts.Location == nil {
		opts.Location = time.Local
	}
	b := &Bridge{Options: opts, chats: map[Place]*chat{}, paces: map[int64]pace{}, noted: map[string]bool{}, pasting: map[writer]time.Time{}, acks: newAcks()}
	b.client = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()} // its own connections, closed at the end
	return b, nil
}

// Run serves until the context ends, which is no error. It finishes a message that is then being sent. Call it once.
// Errors: Held (Telegram does not accept the token), those of Deliveries.
func (b *Bridge) Run(ctx context.Context) error {
	defer b.client.CloseIdleConnections()
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
	return b.poll(ctx)
}

// introduce gets the bot's name, which also verifies the token.
func (b *Bridge) introduce(ctx context.Context) error {
	wait := b.backoff()
	for {
		var me Me
		asking, end := context.WithTimeout(ctx, patience)
		err := b.call(asking, "getMe", map[string]any{}, &me) // the API wants an object
		end()
		switch {
		case err == nil:
			b.me = me
			b.checkPrivacy()
			return nil
		case isOfToken(err):
			return errToken()
		}
		b.once("reach Telegram: " + err.Error() + ": it is tried again")
		if err := clock.Sleep(ctx, retryAfter(err, wait)); err != nil {
			return err
		}
	}
}

func errToken() error {
	return fail.Errorf(fail.Held, "start Telegram bridge: Telegram does not accept the token").
		Hint("@BotFather shows a bot's token, and issues a new one")
}

// takeUp continues with the messages that an earlier bridge accepted and did not answer, and then with its commands.
func (b *Bridge) takeUp(ctx context.Context) error {
	moves, err := b.Deliveries.Moves(ctx)
	if err != nil {
		return fmt.Errorf("take up the chats of Telegram: %w", err)
	}
	b.moveAll(moves)
	messages, err := b.Deliveries.Undelivered(ctx)
	if err != nil {
		return fmt.Errorf("take up messages from Telegram: %w", err)
	}
	slices.SortStableFunc(messages, func(a, b Message) int { return cmp.Compare(min(1, len(a.Command)), min(1, len(b.Command))) })
	for _, m := range messages {
		at, err := ParseKey(m.Key)
		if err != nil || !b.isAllowed(at.chat) {
			b.once("the chat of conversation " + human.Quote(m.Key) + " is not allowed any more: its answers are not told")
			continue
		}
		if c := b.chat(ctx, at); m.Command == "" {
			c.expect(m.ID)
		} else {
			c.enqueue(incoming{Incoming: Incoming{Key: m.Key, ID: m.ID, Text: m.Command}, message: &message{}, group: at.isGroup(), isFor: true, done: func() {}})
		}
	}
	return nil
}

// Tell writes to the chat of a key unasked, as notify does. It also works while the bridge does not run. While Telegram is
// unreachable, it waits until the context ends. Errors: BadInput (it is not a chat, or not allowed), NotFound (it blocked the
// bot), Held (the group became another chat), Failed.
func (b *Bridge) Tell(ctx context.Context, key, text string) error {
	return b.tell(ctx, key, b.plain(text))
}

// Relay is Tell for what Claude said.
func (b *Bridge) Relay(ctx context.Context, key, text string) error {
	return b.tell(ctx, key, format.Markdown(b.Token.hide(text)))
}

func (b *Bridge) tell(ctx context.Context, key string, text format.Text) error {
	to, err := ParseKey(key)
	if err == nil && !b.isAllowed(to.chat) {
		err = fail.Errorf(fail.BadInput, "write to %s: it is not allowed", to)
	}
	if err != nil {
		return err
	}
	err = b.send(ctx, to, text)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fail.Errorf(fail.KindOf(err), "write to %s: %s", to, b.Token.hide(err.Error()))
}

// log writes a line for the operator, without the token.
func (b *Bridge) log(format string, args ...any) {
	const longest = 500 // an error may contain a page
	line := human.Legible(b.Token.hide(fmt.Sprintf(format, args...)))
	b.Log("telegram: " + line[:min(len(line), longest)])
}

// once logs a line that has not been logged yet.
func (b *Bridge) once(line string) {
	const most = 1000 // unknown users may write from many chats
	b.mu.Lock()
	isNew := !b.noted[line] && len(b.noted) < most
	if isNew {
		b.noted[line] = true
	}
	b.mu.Unlock()
	if isNew {
		b.log("%s", line)
	}
}
