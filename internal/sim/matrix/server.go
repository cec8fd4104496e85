package matrix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// Token is the access token that a server accepts unless Options names another.
	Token = "syt_simulated_token"
	// Bot is the bot's user ID.
	Bot = "@simulated_bot:localhost"
	// host is the server's name.
	host = "localhost"
)

// Options says how to serve. The zero value listens on a free port of 127.0.0.1.
type Options struct {
	Listen   string // host:port; the host must be a loopback address
	Token    string // Token when empty
	Versions string // of the specification, with spaces between them; v1.1 to v1.12 when empty
}

// Server is a running simulator.
type Server struct {
	listener net.Listener
	http     *http.Server
	cancel   context.CancelFunc
	served   chan error
	versions string

	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, at each change of what follows
	token   string
	device  string
	events  []*event // of all rooms, in their order
	rooms   map[string]*room
	names   map[string]string // display names of users
	media   map[string]file   // by mxc URI
	done    map[string]transaction
	typing  []Typing
	faults  []string

	failures []*Failure
	calls    map[string]int
	holds    map[string]chan struct{}
	waits    map[string]time.Time // until when a method may not be called, after a 429
	hasty    int
}

// Start listens and serves until Close.
func Start(opts Options) (*Server, error) {
	opts.Listen = cmp.Or(opts.Listen, "127.0.0.1:0")
	at, _, err := net.SplitHostPort(opts.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen %q: %w", opts.Listen, err)
	}
	if ip := net.ParseIP(at); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("listen %q: only a loopback address is served", opts.Listen)
	}
	listener, err := net.Listen("tcp", opts.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen %q: %w", opts.Listen, err)
	}
	s := &Server{
		listener: listener, served: make(chan error, 1), token: cmp.Or(opts.Token, Token), device: "SIMULATED", changed: make(chan struct{}),
		versions: cmp.Or(opts.Versions, "v1.1 v1.2 v1.3 v1.4 v1.5 v1.6 v1.7 v1.8 v1.9 v1.10 v1.11 v1.12"),
		rooms:    map[string]*room{}, names: map[string]string{Bot: "Simulated"}, media: map[string]file{}, done: map[string]transaction{},
		calls: map[string]int{}, holds: map[string]chan struct{}{}, waits: map[string]time.Time{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// URL is the base URL of the homeserver.
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

// SetToken has the server accept another token only, as after the end of a session. The device stays the same unless
// another is named: a login makes one, and its transactions are its own.
func (s *Server) SetToken(token, device string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token, s.device = token, cmp.Or(device, s.device)
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]http.HandlerFunc{
		"POST /control/room": s.controlRoom, "GET /control/room": s.controlShow, "POST /control/say": s.controlSay,
		"POST /control/fail": s.controlFail, "GET /control/faults": s.controlFaults,
	} {
		mux.HandleFunc(pattern, handle)
	}
	for _, m := range methods {
		mux.HandleFunc(m.pattern, func(w http.ResponseWriter, r *http.Request) { s.call(w, r, m) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.fault("there is no %s %s", r.Method, r.URL.Path)
		s.mu.Unlock()
		refused(http.StatusNotFound, "M_UNRECOGNIZED", "Unrecognized request").tell(w)
	})
	return mux
}

// call answers a call of the bot's.
func (s *Server) call(w http.ResponseWriter, r *http.Request, m method) {
	s.mu.Lock()
	s.calls[m.name]++
	s.check(m, r)
	s.change()
	hold, left, failure := s.holds[m.name], time.Until(s.waits[m.name]), s.failure(m.name)
	switch {
	case left > 0:
		s.hasty++
		failure = &Failure{Code: http.StatusTooManyRequests, RetryAfter: int(left/time.Millisecond) + 1}
	case failure != nil && failure.RetryAfter > 0:
		s.waits[m.name] = time.Now().Add(time.Duration(failure.RetryAfter) * time.Millisecond)
	}
	unknown := s.unauthorized(m, r)
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case unknown != nil:
		unknown.tell(w)
	case failure != nil:
		if failure.Done {
			m.do(s, discard{http.Header{}}, r)
		}
		failure.tell(w)
	default:
		m.do(s, w, r)
	}
}

// unauthorized refuses a request without the token. The lock is held.
func (s *Server) unauthorized(m method, r *http.Request) *refusal {
	token, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case m.open:
		return nil
	case !is:
		return refused(http.StatusUnauthorized, "M_MISSING_TOKEN", "Missing access token")
	case token != s.token:
		r := refused(http.StatusUnauthorized, "M_UNKNOWN_TOKEN", "Unrecognised access token")
		r.more = map[string]any{"soft_logout": false}
		return r
	}
	return nil
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
