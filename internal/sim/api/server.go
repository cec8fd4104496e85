package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Options says how to serve. The zero value listens on a free port of 127.0.0.1.
type Options struct {
	Listen  string // host:port; the host must be a loopback address
	LogFile string // each request is appended to it as one line of JSON (Request)
}

// Server is a running simulator.
type Server struct {
	listener net.Listener
	http     *http.Server
	cancel   context.CancelFunc
	served   chan error

	log      *os.File
	mu       sync.Mutex
	requests []Request
	attempts map[string]int
	gates    map[string]chan struct{}
	busy     atomic.Int64 // Busy, in nanoseconds
}

// Start listens and serves until Close.
func Start(opts Options) (*Server, error) {
	if opts.Listen == "" {
		opts.Listen = "127.0.0.1:0"
	}
	listener, err := listen(opts.Listen)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, served: make(chan error, 1), attempts: map[string]int{}, gates: map[string]chan struct{}{}}
	if opts.LogFile != "" {
		s.log, err = os.OpenFile(opts.LogFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open request log: %w", err), listener.Close())
		}
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

// listen refuses every address that could be reached from another machine.
func listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen %q: %w", address, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("listen %q: only a loopback address is served", address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen %q: %w", address, err)
	}
	return listener, nil
}

// URL is the base URL, for ANTHROPIC_BASE_URL.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Busy is how long answers took so far, all together, from their requests' headers on.
func (s *Server) Busy() time.Duration { return time.Duration(s.busy.Load()) }

// Close ends all requests, also delayed ones, and the server.
func (s *Server) Close() error {
	s.cancel()
	err := s.http.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if s.log != nil {
		err = errors.Join(err, s.log.Close())
	}
	return err
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", s.countTokens)
	mux.HandleFunc("HEAD /{$}", s.alive)
	mux.HandleFunc("GET /{$}", s.alive)
	mux.HandleFunc("/", s.unknown)
	return mux
}

// alive answers the probe that every start of the client sends.
func (s *Server) alive(w http.ResponseWriter, r *http.Request) {
	s.keep(s.received(r, nil, message{}), http.StatusOK)
	w.WriteHeader(http.StatusOK)
}

func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	s.keep(s.received(r, nil, message{}), http.StatusNotFound)
	writeError(w, http.StatusNotFound, "not simulated: "+r.Method+" "+r.URL.Path)
}

// Release lets each answer begin that waits for the word, and those that come later. A word is released once.
func (s *Server) Release(word string) { close(s.gate(word)) }

func (s *Server) isReleased(word string) bool {
	select {
	case <-s.gate(word):
		return true
	default:
		return false
	}
}

func (s *Server) gate(word string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gates[word] == nil {
		s.gates[word] = make(chan struct{})
	}
	return s.gates[word]
}

// isOpen waits for a gate. It is false if the client has left.
func isOpen(ctx context.Context, gate <-chan struct{}) bool {
	select {
	case <-gate:
		return true
	case <-ctx.Done():
		return false
	}
}
