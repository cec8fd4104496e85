package telegram

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
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
}

// Server is a running simulator.
type Server struct {
	listener net.Listener
	http     *http.Server
	cancel   context.CancelFunc
	served   chan error
	token    string

	mu       sync.Mutex
	changed  chan struct{} // closed, and made anew, at each change of what follows
	updates  []update      // not acknowledged
	numbered int64         // the newest update
	allowed  []string      // kinds of updates that the bot wants; empty: the usual ones
	webhook  string
	privacy  bool
	users    map[int64]User
	chats    map[int64]*chat
	messages []Message
	files    map[string]*file
	queries  map[string]*Answered
	commands map[string][]Command // by scope
	shown    []Shown
	faults   []string

	limited bool // rates
	sent    []sent
	until   map[int64]time.Time // when a chat may be written to again

	failures []*Failure
	poller   context.CancelFunc // ends the getUpdates that waits
	calls    map[string]int
	holds    map[string]chan struct{}
	waits    map[string]time.Time // until when a method may not be called, after a 429
	hasty    int
}

// Start listens and serves until Close.
func Start(opts Options) (*Server, error) {
	if opts.Listen == "" {
		opts.Listen = "127.0.0.1:0"
	}
	if opts.Token == "" {
		opts.Token = Token
	}
	host, _, err := net.SplitHostPort(opts.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen %q: %w", opts.Listen, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("listen %q: only a loopback address is served", opts.Listen)
	}
	listener, err := net.Listen("tcp", opts.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen %q: %w", opts.Listen, err)
	}
	s := &Server{
		listener: listener, served: make(chan error, 1), token: opts.Token,
		changed: make(chan struct{}), calls: map[string]int{}, holds: map[string]chan struct{}{}, waits: map[string]time.Time{},
		privacy: opts.Privacy, limited: opts.Rates, users: map[int64]User{}, chats: map[int64]*chat{}, files: map[string]*file{},
		queries: map[string]*Answered{}, commands: map[string][]Command{}, until: map[int64]time.Time{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.http = &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// URL is the base URL, in the place of https://api.telegram.org.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close ends all requests, also those that wait, and the server.
func (s *Server) Close() error {
	s.cancel()
	err := s.http.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
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

// change wakes all who wait in await. The lock is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// await waits until done, which it calls with the lock held, returns true. It returns false when the context ends first.
func (s *Server) await(ctx context.Context, done func() bool) bool {
	for {
		s.mu.Lock()
		is, changed := done(), s.changed
		s.mu.Unlock()
		if is {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}
