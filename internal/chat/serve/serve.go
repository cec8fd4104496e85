// Package serve hosts, in one foreground process, what must keep running for conversations: turns whose
// claude stays warm, accepted turns that are not answered yet, schedules, and the bridge to chats.
//
//   - It is a convenience: nbs-worker ask runs turns without it too. All that counts is on the disk, and a
//     server that is killed loses nothing.
//   - One server per project. Its socket is in the user's runtime folder, 0600; a caller hands over the key and
//     the id of an accepted turn, and gets its result. The only text that a caller can send is one for a chat.
//   - When it ends it ends the claudes that it keeps, and leaves open turns to the next server or caller.
package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
)

// Server serves one project.
type Server struct {
	Engine  *conversation.Engine
	Beside  []func(context.Context) error // run while the server runs: schedules, bridges
	Said    func(format string, args ...any)
	Ready   func() error                                     // called once the server can be asked; nil: nobody waits for that
	Tell    func(ctx context.Context, to, text string) error // to a chat, by its key; nil: there is no bridge
	Metrics net.Listener                                     // serves metrics and health too; nil: only the socket does

	counts  counts
	mu      sync.Mutex
	hearing map[chan string]client.Turn              // who hears the answer of a turn while it is written
	trouble map[conversations.Key]conversations.Held // why a conversation did not go on when it was last tried
	change  chan struct{}                            // closed, and made anew, when a turn has changed
	wake    chan struct{}
}

// New is a server that does not run yet.
func New(e *conversation.Engine, said func(format string, args ...any)) *Server {
	s := &Server{
		Engine: e, Said: said, hearing: map[chan string]client.Turn{}, trouble: map[conversations.Key]conversations.Held{},
		change: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	e.Heard, e.Over = s.heard, func(r conversations.Result) { s.counts.turn(r); s.changed() }
	s.count()
	return s
}

// rescan is how often open turns of other processes are looked for: a caller that is killed announces nothing.
const rescan = 15 * time.Second

// ending is how long a server that ends waits for its open requests: their claudes are ended first.
const ending = 20 * time.Second

// Run serves until the context ends. Errors: Conflict when the project is served already.
func (s *Server) Run(ctx context.Context) error {
	release, err := s.Engine.Store.LockServe(s.Engine.Now())
	if err != nil {
		return err
	}
	defer release()
	listener, forget, err := listen(ctx, s.Engine.Store)
	if err != nil {
		return err
	}
	defer forget()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	servers := []*http.Server{{Handler: s.routes(ctx), ReadHeaderTimeout: time.Minute}}
	listeners := []net.Listener{listener}
	if s.Metrics != nil {
		servers = append(servers, &http.Server{Handler: s.looks(), ReadHeaderTimeout: time.Minute})
		listeners = append(listeners, s.Metrics)
	}
	s.greet()
	var all sync.WaitGroup
	failures := make(chan error, len(servers)+len(s.Beside)+1)
	begin := func(run func() error) {
		all.Go(func() {
			if err := run(); err != nil && ctx.Err() == nil {
				failures <- err
				cancel()
			}
		})
	}
	for i, server := range servers {
		begin(func() error { return server.Serve(listeners[i]) })
	}
	for _, beside := range s.Beside {
		begin(func() error { return beside(ctx) })
	}
	begin(func() error { return s.work(ctx) })
	if s.Ready != nil {
		begin(s.Ready)
	}
	<-ctx.Done()
	for _, server := range servers {
		all.Go(func() { end(ctx, server) })
	}
	all.Wait()
	s.Engine.Warm.Close(ctx)
	select {
	case err := <-failures:
		return err
	default:
		return nil
	}
}

// end shuts a server down, and waits for its open requests, which end when their claudes have ended.
func end(ctx context.Context, server *http.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close()
	}
}

// greet says of each conversation whether it goes on.
func (s *Server) greet() {
	keys, err := s.Engine.Store.Conversations().Keys()
	if err != nil {
		s.Said("some conversations cannot be read: %s", err)
	}
	for _, key := range keys {
		if state, err := s.Engine.Store.Conversations().Of(key).State(); err == nil {
			s.Said("%s: %s", key, conversation.Describe(&state))
		}
	}
}

// work runs the open turns for which nobody waits, until the context ends.
func (s *Server) work(ctx context.Context) error {
	var running sync.Map // keys that are being worked on
	var all sync.WaitGroup
	defer all.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-s.wake:
		}
		timer.Reset(rescan)
		s.Engine.Warm.Trim(ctx)
		keys, _ := s.Engine.Store.Conversations().WithWork() // the list of conversations tells what cannot be read
		for _, key := range keys {
			if _, busy := running.LoadOrStore(key, true); busy {
				continue
			}
			all.Go(func() {
				defer running.Delete(key)
				s.drain(ctx, key)
			})
		}
	}
}

// drain runs what is open in a conversation.
func (s *Server) drain(ctx context.Context, key conversations.Key) {
	until, err := s.Engine.Drain(ctx, key)
	if ctx.Err() != nil {
		return
	}
	s.note(key, err)
	if wait := until.Sub(s.Engine.Now()); err == nil && !until.IsZero() && wait < rescan { // else rescan finds it in time
		time.AfterFunc(wait, s.Wake)
	}
}

// note keeps why a conversation does not go on, says each reason once, and wakes those who wait for a turn. That a
// turn waits for a person is in its journal as well.
func (s *Server) note(key conversations.Key, err error) {
	now := s.Engine.Now()
	s.mu.Lock()
	held := s.trouble[key]
	isNew := err != nil && held.Reason != err.Error()
	switch {
	case err == nil:
		delete(s.trouble, key)
	case isNew:
		s.trouble[key] = conversations.Held{Class: classOf(err), Reason: err.Error(), At: now, Until: now.Add(rescan)}
	default:
		held.At = now
		s.trouble[key] = held
	}
	s.mu.Unlock()
	if isNew {
		s.Said("%s: %s", key, err)
	}
	s.changed()
}

// classOf is the class of a failure that keeps a turn from being tried; "" of one that is in the turn's journal.
func classOf(err error) string {
	switch {
	case errors.Is(err, conversation.ErrDeadLetter):
		return ""
	case fail.KindOf(err) == fail.Conflict:
		return string(conversation.ClassInUse)
	}
	return string(conversation.ClassFailed)
}

// Wake makes the server look for open turns now.
func (s *Server) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// changed wakes those who wait for the outcome of a turn.
func (s *Server) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.change)
	s.change = make(chan struct{})
}

// heard passes a part of an answer to those who listen to its turn.
func (s *Server) heard(key conversations.Key, id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for listener, wanted := range s.hearing {
		if wanted.Key != key || wanted.ID != id {
			continue
		}
		select {
		case listener <- text:
		default: // a slow listener gets the whole answer in the end
		}
	}
}
