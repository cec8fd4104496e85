package telegram

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"nbs-worker/internal/sim/chatsim"
)

// Token is the token that a server accepts unless Options names another.
const Token = "1000:simulated-token"

// Name is the bot's user name.
const Name = "simulated_bot"

// Options says how to serve. The zero value listens on a free port of 127.0.0.1.
type Options struct {
	Listen string // host:port; the host must be a loopback address
	Token  string // Token when empty

	Privacy bool // the bot is in privacy mode: it does not read all that is written in groups
	Rates   bool // the limits of the rate are held

	Now func() time.Time // of the limits of the rate; time.Now when nil
}

// Server is a running simulator.
type Server struct {
	chatsim.Server

	token string

	updates  []update // not acknowledged
	numbered int64    // the newest update
	allowed  []string // kinds of updates that the bot wants; empty: the usual ones
	webhook  string
	privacy  bool
	users    map[int64]User
	chats    map[int64]*chat
	messages []Message
	files    map[string]*file
	queries  map[string]*Answered
	commands map[string][]Command // by scope
	shown    []Shown

	limited bool // rates
	now     func() time.Time
	sent    []sent
	until   map[int64]time.Time // when a chat may be written to again

	failures []*Failure
	poller   context.CancelFunc // ends the getUpdates that waits
}

// Start listens and serves until Close.
func Start(opts Options) (*Server, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Server{
		now: opts.Now, token: cmp.Or(opts.Token, Token), privacy: opts.Privacy, limited: opts.Rates, users: map[int64]User{}, chats: map[int64]*chat{},
		files: map[string]*file{}, queries: map[string]*Answered{}, commands: map[string][]Command{}, until: map[int64]time.Time{},
	}
	return s, s.Listen(opts.Listen, s.routes())
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /control/say", s.controlSay)
	mux.HandleFunc("GET /control/chat", s.controlChat)
	mux.HandleFunc("POST /control/edit", s.controlEdit)
	mux.HandleFunc("POST /control/press", s.controlPress)
	mux.HandleFunc("POST /control/user", s.controlUser)
	mux.HandleFunc("POST /control/group", s.controlGroup)
	mux.HandleFunc("POST /control/topic", s.controlTopic)
	mux.HandleFunc("POST /control/webhook", s.controlWebhook)
	mux.HandleFunc("GET /control/faults", s.controlFaults)
	mux.HandleFunc("POST /control/fail", s.controlFail)
	mux.HandleFunc("POST /control/block", s.controlBlock)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		whole, isFile := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, "/"), "file/")
		bot, method, _ := strings.Cut(whole, "/")
		token, isBot := strings.CutPrefix(bot, "bot")
		switch {
		case !isBot:
			refuse(w, http.StatusNotFound, "Not Found", 0)
		case token != s.token:
			refuse(w, http.StatusUnauthorized, "Unauthorized", 0)
		case isFile:
			s.download(w, r, method)
		default:
			s.call(w, r, method)
		}
	})
	return mux
}
