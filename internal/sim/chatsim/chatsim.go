// Package chatsim is what the simulated chat systems share: a server on loopback that counts the calls of its methods,
// holds them, and notes what was wrong with them.
package chatsim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Server is embedded in a simulated system.
type Server struct {
	Mu sync.Mutex // guards the system too

	listener net.Listener
	http     *http.Server
	cancel   context.CancelFunc
	served   chan error

	changed chan struct{} // closed, and replaced, at each change
	calls   map[string]int
	holds   map[string]chan struct{}
	waits   map[string]time.Time // until when a method may not be called, after a 429
	hasty   int
	faults  []string
}

// Listen serves until Close. The address is host:port, with a loopback address; "": a free port of 127.0.0.1.
func (s *Server) Listen(address string, handler http.Handler) error {
	address = cmp.Or(address, "127.0.0.1:0")
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("listen %q: %w", address, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("listen %q: only a loopback address is served", address)
	}
	if s.listener, err = net.Listen("tcp", address); err != nil {
		return fmt.Errorf("listen %q: %w", address, err)
	}
	s.served, s.changed = make(chan error, 1), make(chan struct{})
	s.calls, s.holds, s.waits = map[string]int{}, map[string]chan struct{}{}, map[string]time.Time{}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.http = &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { s.served <- s.http.Serve(s.listener) }()
	return nil
}

// URL is the base URL.
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

// Change wakes all who wait in AwaitChange. The lock is held.
func (s *Server) Change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// AwaitChange waits until done, which it calls with the lock held, returns true. It returns false when the context ends first.
func (s *Server) AwaitChange(ctx context.Context, done func() bool) bool {
	for {
		s.Mu.Lock()
		is, changed := done(), s.changed
		s.Mu.Unlock()
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

// Count counts a call. It returns what keeps it waiting, nil for nothing, and how long the method may not be called yet.
// The lock is held.
func (s *Server) Count(method string) (hold <-chan struct{}, left time.Duration) {
	s.calls[method]++
	s.Change()
	return s.holds[method], time.Until(s.waits[method])
}

// Wait refuses the calls of a method for a time. The lock is held.
func (s *Server) Wait(method string, pause time.Duration) { s.waits[method] = time.Now().Add(pause) }

// WasHasty notes a call that came before it was allowed. The lock is held.
func (s *Server) WasHasty() { s.hasty++ }

// Hasty is how often a method was called before it was allowed to be, after a 429.
func (s *Server) Hasty() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.hasty
}

// Fault notes once what was wrong with a request. The lock is held.
func (s *Server) Fault(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.faults, text) {
		s.faults = append(s.faults, text)
	}
}

// Faults returns what was wrong with the bot's requests although the system does not refuse it: an unknown parameter, an
// unknown method, a value that is dropped. A bot as it should be has none.
func (s *Server) Faults() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.faults)
}

// AwaitCalls waits until a method was called that often.
func (s *Server) AwaitCalls(ctx context.Context, method string, count int) error {
	if !s.AwaitChange(ctx, func() bool { return s.calls[method] >= count }) {
		return fmt.Errorf("wait for %d calls of %s: %w", count, method, ctx.Err())
	}
	return nil
}

// Calls is how often a method was called.
func (s *Server) Calls(method string) int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.calls[method]
}

// Hold keeps the calls of a method waiting until release is called.
func (s *Server) Hold(method string) (release func()) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	hold := make(chan struct{})
	s.holds[method] = hold
	return func() {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		delete(s.holds, method)
		close(hold)
	}
}
