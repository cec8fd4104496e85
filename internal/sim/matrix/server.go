package matrix

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"nbs-worker/internal/sim/chatsim"
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
	chatsim.Server

	versions string

	token  string
	device string
	events []*event // of all rooms, in their order
	rooms  map[string]*room
	names  map[string]string // display names of users
	media  map[string]file   // by mxc URI
	done   map[string]transaction
	typing []Typing

	failures []*Failure
}

// Start listens and serves until Close.
func Start(opts Options) (*Server, error) {
	s := &Server{
		token: cmp.Or(opts.Token, Token), device: "SIMULATED",
		versions: cmp.Or(opts.Versions, "v1.1 v1.2 v1.3 v1.4 v1.5 v1.6 v1.7 v1.8 v1.9 v1.10 v1.11 v1.12"),
		rooms:    map[string]*room{}, names: map[string]string{Bot: "Simulated"}, media: map[string]file{}, done: map[string]transaction{},
	}
	return s, s.Listen(opts.Listen, s.routes())
}

// SetToken has the server accept another token only, as after the end of a session. The device stays the same unless
// another is named: a login makes one, and its transactions are its own.
func (s *Server) SetToken(token, device string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
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
		s.Mu.Lock()
		s.Fault("there is no %s %s", r.Method, r.URL.Path)
		s.Mu.Unlock()
		refused(http.StatusNotFound, "M_UNRECOGNIZED", "Unrecognized request").tell(w)
	})
	return mux
}

// call answers a call of the bot's.
func (s *Server) call(w http.ResponseWriter, r *http.Request, m method) {
	s.Mu.Lock()
	s.check(m, r)
	hold, left := s.Count(m.name)
	failure := s.failure(m.name)
	switch {
	case left > 0:
		s.WasHasty()
		failure = &Failure{Code: http.StatusTooManyRequests, RetryAfter: int(left/time.Millisecond) + 1}
	case failure != nil && failure.RetryAfter > 0:
		s.Wait(m.name, time.Duration(failure.RetryAfter)*time.Millisecond)
	}
	unknown := s.unauthorized(m, r)
	s.Mu.Unlock()
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
