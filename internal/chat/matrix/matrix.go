package matrix

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Name is the prefix of the keys and ids of Matrix, and of its flags.
const Name = "matrix"

// Options are the options of a connection.
type Options struct {
	Homeserver string   // its address
	Token      Token    // of the bot's session
	Rooms      []string // whose messages are taken
	Users      []string // who may invite the bot, and has a private chat with it

	Log  func(line string) // lines for the operator; called by several goroutines
	Past Progress          // as it was recorded
	Keep func(Progress) error

	Answered time.Duration // how long it stays known which messages were answered

	Poll time.Duration // how long the homeserver waits for an event before it answers without one; 30 s when zero
	Grow time.Duration // how often an answer grows at most; 5 s when zero
	Now  func() time.Time
}

// Progress is how far the events of the homeserver were taken.
type Progress struct {
	Session string    // a sum of the token
	Since   string    // the place that events were taken up to; "": none was taken yet
	At      time.Time // when that was recorded
	Noted   []string  // encrypted rooms that were told so
	Account string    // whose events

	Invited map[string]string // rooms with an invitation that was not accepted, and who has sent it
}

// System is Matrix, as a bot sees it.
type System struct {
	Options

	client *http.Client
	lines  *bridge.Log
	traits bridge.Traits
	me     string // the bot's user ID; set by Start, before anything but Owner needs it

	coming *batch // events that were not returned by Next yet; only Start and Next use it, and the following
	since  string // where the next sync goes on
	failed int    // how often an event could not be fetched since Next has succeeded

	mu    sync.Mutex
	rooms map[string]*room

	acks    acks
	workers sync.WaitGroup // that join rooms
}

// Defaults of options, and what the API and its servers have as limits.
const (
	poll       = 30 * time.Second
	growth     = 5 * time.Second // a usual homeserver takes ten messages at once, and one each five seconds after that
	longest    = 12_000          // bytes of the text of a message; see maxEvent
	maxFile    = 50_000_000      // bytes; what a usual homeserver takes
	fetchLimit = 20 << 20        // bytes

	// remembered is how long a homeserver surely knows a transaction id.
	remembered = 20 * time.Minute
)

// New returns a connection, which is not opened yet. Errors: BadInput.
func New(opts Options) (*System, error) {
	if err := CheckHomeserver(opts.Homeserver); err != nil {
		return nil, err
	}
	opts.Homeserver = strings.TrimSuffix(opts.Homeserver, "/")
	opts.Poll, opts.Grow = cmp.Or(opts.Poll, poll), cmp.Or(opts.Grow, growth)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &System{Options: opts, rooms: map[string]*room{}, client: &http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(), CheckRedirect: redirect, // its own connections
	}}
	s.lines = bridge.NewLog(Name, s.Hide, opts.Log)
	s.acks.keep, s.acks.now, s.acks.progress = s.keep, opts.Now, opts.Past
	s.traits = bridge.Traits{
		Name: Name, Title: "Matrix", Learns: true, Command: "nbs-worker serve", Before: Name + "-", SendsOnceFor: remembered, Longest: longest, Size: size, MaxFile: maxFile,
		Typing: typingShown, Grow: opts.Grow, GrowInGroups: 2 * opts.Grow,
	}
	if opts.Past.Session == s.session() {
		s.traits.LastRun = opts.Past.At
	}
	return s, nil
}

// CheckHomeserver checks the address of a homeserver: the token must not travel in the open. Errors: BadInput.
func CheckHomeserver(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return fail.Errorf(fail.BadInput, "set up Matrix: %s is no address of a homeserver", human.Quote(address)).Hint("for example: --matrix-homeserver https://matrix.example.org")
	case u.Scheme == "https", u.Scheme == "http" && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()):
		return nil
	}
	return fail.Errorf(fail.BadInput, "set up Matrix: %s does not begin with https://, so others could read the access token", human.Quote(address))
}

// redirect follows to where a file is, unless the token would travel in the open. A message would become a question: it is
// not sent where another address is named.
func redirect(to *http.Request, via []*http.Request) error {
	const most = 5
	if len(via) > most || via[0].Method != http.MethodGet || CheckHomeserver(to.URL.Scheme+"://"+to.URL.Host) != nil {
		return http.ErrUseLastResponse
	}
	return nil
}

// session is a sum of the token.
func (s *System) session() string {
	sum := sha256.Sum256([]byte(s.Token.text))
	return hex.EncodeToString(sum[:8])
}

// Traits implements [bridge.System].
func (s *System) Traits() bridge.Traits { return s.traits }

// Hide implements [bridge.System].
func (s *System) Hide(text string) string { return s.Token.hide(text) }

// Close implements [bridge.System].
func (s *System) Close() {
	s.workers.Wait() // they end with the context of Next
	s.client.CloseIdleConnections()
}

// ParseKey implements [bridge.System].
func (s *System) ParseKey(key string) (bridge.Place, error) { return ParseKey(key) }

// ParseKey returns the place of a conversation's key. Errors: BadInput.
func ParseKey(key string) (bridge.Place, error) {
	of, is := strings.CutPrefix(key, Name+":")
	room, thread, isThread := strings.Cut(of, "/$")
	if isThread {
		thread = "$" + thread
	}
	if !is || !IsRoom(room) || isThread && len(thread) == 1 {
		return bridge.Place{}, fail.Errorf(fail.BadInput, "%s is not the conversation of a Matrix room", human.Quote(key))
	}
	return bridge.Place{Chat: room, Topic: thread}, nil
}

// IsRoom reports whether a text has the form of a room's ID, whose conversation and threads can have keys.
func IsRoom(text string) bool {
	const most = 140 // bytes: a key has 200, and the ID of a thread's event 44
	return len(text) > 1 && len(text) <= most && text[0] == '!' && !strings.ContainsAny(text, " \t\n") && human.IsLegible(text)
}

// IsUser reports whether a text has the form of a user's ID.
func IsUser(text string) bool {
	name, server, is := strings.Cut(text, ":")
	return is && len(name) > 1 && name[0] == '@' && server != "" && !strings.ContainsAny(text, " \t\n") && human.IsLegible(text)
}

// Start implements [bridge.System].
func (s *System) Start(ctx context.Context) (bridge.Bot, error) {
	who, err := s.introduce(ctx)
	if err != nil {
		return bridge.Bot{}, err
	}
	s.mu.Lock()
	s.me = who.User
	s.mu.Unlock()
	past := s.acks.begin(s.Homeserver+" "+who.User, s.session())
	if past == "" && s.Past.Since != "" {
		s.lines.Printf("this is another account than before, or another address of its homeserver: what was written until now is not taken")
	}
	first, err := s.sync(ctx, past, 0)
	if past != "" && bridge.FailureOf(err).Final {
		s.lines.Once("the homeserver does not know any more up to where messages were taken. If it was set up again, end serve and remove .nbs/matrix.json: what was written until then is not taken")
	}
	if err != nil {
		return bridge.Bot{}, err
	}
	s.since = first.Next
	s.learn(first)
	if forgotten := s.Now().Add(-s.Answered); past != "" && s.Past.At.Before(forgotten) {
		first.forgotten = forgotten
	}
	if past == "" {
		for id, joined := range first.Rooms.Join { // what was written before
			joined.Timeline = timeline{}
			first.Rooms.Join[id] = joined
		}
	}
	for id, by := range s.acks.invitations() { // which a homeserver shows once, and which may be allowed by now
		if _, isIn := first.Rooms.Join[id]; !isIn && first.Rooms.Invite[id].State.Events == nil {
			first.invite(id, event{Type: typeMember, Sender: by, Key: &s.me})
		}
	}
	s.coming = first
	return bridge.Bot{Name: strings.TrimPrefix(who.User, "@")}, nil
}

// Account is the bot's account.
type Account struct {
	User   string `json:"user_id"`
	Device string `json:"device_id"`
}

// oldest is the version of the API from which on a file is fetched with the token.
const oldest = "v1.11"

// introduce asks who the bot is, and whether the homeserver is new enough.
func (s *System) introduce(ctx context.Context) (who Account, err error) {
	var speaks struct {
		Versions []string `json:"versions"`
	}
	if err := s.call(ctx, http.MethodGet, "/_matrix/client/versions", nil, &speaks); err != nil {
		return who, err
	}
	if !slices.ContainsFunc(speaks.Versions, isNewEnough) {
		return who, fail.Errorf(fail.Held, "%s is too old: it does not offer Matrix %s", s.Homeserver, oldest).Hint("ask who runs it for an update")
	}
	err = s.call(ctx, http.MethodGet, v3+"account/whoami", nil, &who)
	return who, err
}

// isNewEnough reports whether a version of the API is v1.11 or later.
func isNewEnough(version string) bool {
	minor, is := strings.CutPrefix(version, "v1.")
	return is && (len(minor) > 2 || len(minor) == 2 && minor >= "11")
}

// Describe implements [bridge.System].
func (s *System) Describe(_ context.Context, chat string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[chat]
	switch {
	case r == nil:
		return "", fail.Errorf(fail.NotFound, "the bot is not in it: invite %s", s.me)
	case r.encrypted:
		return "", fail.Errorf(fail.NotFound, "it is encrypted, and the bot cannot read encrypted messages")
	case r.name == "":
		return chat, nil
	}
	return human.Quote(r.name) + " (" + chat + ")", nil
}

// SetMenu implements [bridge.System]. Matrix has no menu; but see spoken.
func (s *System) SetMenu(context.Context, bool, []bridge.MenuEntry) error { return nil }
