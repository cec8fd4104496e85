package telegram

import (
	"context"
	"strconv"
	"sync"
	"time"
	"unicode/utf16"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/telegram/format"
)

// Options are the options of a bot.
type Options struct {
	Token Token
	Log   func(line string) // lines for the operator; called by several goroutines

	URL    string        // of the Bot API; https://api.telegram.org when empty
	Poll   time.Duration // how long Telegram waits for a message before it answers without one; 50 s when zero
	Upload time.Duration // the time limit of a request with a file; 10 min when zero
	Grow   time.Duration // how often an answer grows at most, and in a group a third of that; 2 s when zero
}

// System is Telegram for a bridge.
type System struct {
	client
	opts Options
	log  *bridge.Log
	me   Me // set once the system was started

	acks     *acks
	confirms sync.WaitGroup
}

var _ bridge.System = (*System)(nil)

// New returns Telegram for a bot; it opens no connection. Errors: BadInput.
func New(opts Options) (*System, error) {
	client, err := newClient(opts.Token, opts.URL)
	if err != nil {
		return nil, err
	}
	if opts.Poll == 0 {
		opts.Poll = 50 * time.Second
	}
	if opts.Upload == 0 {
		opts.Upload = uploadPatience
	}
	if opts.Grow == 0 {
		opts.Grow = 2 * time.Second
	}
	return &System{client: client, opts: opts, log: bridge.NewLog(name, opts.Token.hide, opts.Log), acks: newAcks()}, nil
}

// Traits implements [bridge.System]. A bot may write 20 messages a minute to a group, and edits count.
func (s *System) Traits() bridge.Traits {
	return bridge.Traits{
		Name: name, Title: "Telegram", Command: "nbs-worker serve setup telegram",
		Longest: format.MaxText, Size: utf16.RuneLen,
		MinFile: 1, MaxFile: 50_000_000,
		Typing: 5 * time.Second, Grow: s.opts.Grow, GrowInGroups: 3 * s.opts.Grow,
	}
}

// ParseKey implements [bridge.System].
func (s *System) ParseKey(key string) (bridge.Place, error) { return ParseKey(key) }

// Owner implements [bridge.System]. A private chat has the number of its user, and a group a negative one.
func (s *System) Owner(chat string) string {
	if number, err := strconv.ParseInt(chat, 10, 64); err != nil || number < 0 {
		return ""
	}
	return chat
}

// Hide implements [bridge.System].
func (s *System) Hide(text string) string { return s.token.hide(text) }

// Start implements [bridge.System]. It gets the bot's name, which also verifies the token.
func (s *System) Start(ctx context.Context) (bridge.Bot, error) {
	var me Me
	switch err := s.call(ctx, "getMe", map[string]any{}, &me); { // the API wants an object
	case isOfToken(err):
		return bridge.Bot{}, errToken()
	case err != nil:
		return bridge.Bot{}, failed(err)
	}
	s.me = me
	bot := bridge.Bot{Name: me.Username}
	if !me.ReadsGroups {
		bot.Hides = "the bot's privacy mode is on: in groups Telegram passes on only commands, answers to the bot and messages that name it, unless the bot is an administrator. " +
			"To turn it off, send /setprivacy to @BotFather, and then add the bot to the group again"
	}
	return bot, nil
}

// Describe implements [bridge.System].
func (s *System) Describe(ctx context.Context, chat string) (string, error) {
	info, err := (&Account{s.client}).Chat(ctx, numberOf(chat))
	return info.String(), err
}

// Close implements [bridge.System].
func (s *System) Close() {
	s.confirms.Wait()
	s.http.CloseIdleConnections()
}
