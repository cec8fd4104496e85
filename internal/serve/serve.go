// Package serve hosts, in one foreground process, what must keep running for conversations: turns whose
// claude stays warm, what was accepted and is not answered, schedules, and the bridge to chats.
//
//   - It is a convenience: whatever it does, nbs-worker ask does without it. All that counts is on the disk,
//     and a server that is killed loses nothing.
//   - One for a project. Its socket is in the user's runtime folder, 0600; a caller hands over the key and the id
//     of a turn that is accepted already, and gets its result. No text and no order passes through it.
//   - When it ends it ends the claudes that it keeps, and leaves open turns to who comes next.
package serve

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/conversation"
	"nbs-worker/internal/serve/client"
	"nbs-worker/internal/store/conversations"
)

// Server is that of one project.
type Server struct {
	Engine  *conversation.Engine
	Beside  []func(context.Context) error // what runs as long as it does: schedules, bridges
	Said    func(format string, args ...any)
	Ready   func() error                                     // called once it can be asked; nil: nobody waits for that
	Tell    func(ctx context.Context, to, text string) error // to a chat, by its key; nil: there is no bridge
	Metrics net.Listener                                     // where metrics and health are told beside the socket; nil: nowhere

	counts  counts
	mu      sync.Mutex
	hearing map[chan string]client.Turn              // who hears what a turn says
	trouble map[conversations.Key]conversations.Held // why a conversation does not go on, beside what is written down
	change  chan struct{}                            // closed, and made anew, when something became of a turn
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

// rescan is how often what others have left is looked for: a caller that was killed tells nobody.
const rescan = 15 * time.Second

// ending is how long those who are being answered have when the server ends: their claudes are ended first.
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

// end waits for those who are being answered, and who leave with their claudes.
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

// work runs what is open and nobody waits for, until the context ends.
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
		keys, _ := s.Engine.Store.Conversations().WithWork() // of what cannot be read, the look says so
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
	if wait := until.Sub(s.Engine.Now()); err == nil && !until.IsZero() && wait < rescan { // else it is found when it is time
		time.AfterFunc(wait, s.Wake)
	}
}

// note keeps why a conversation does not go on, says so once, and tells who waits. What waits for a person is
// written down with the turn.
func (s *Server) note(key conversations.Key, err error) {
	s.mu.Lock()
	before := s.trouble[key]
	switch {
	case err == nil:
		delete(s.trouble, key)
	case before.Reason != err.Error():
		now := s.Engine.Now()
		s.trouble[key] = conversations.Held{Class: classOf(err), Reason: err.Error(), At: now, Until: now.Add(rescan)}
	}
	s.mu.Unlock()
	if err != nil && before.Reason != err.Error() {
		s.Said("%s: %s", key, err)
	}
	s.changed()
}

// classOf is how a failure that keeps a turn from being tried is told apart.
func classOf(err error) string {
	if agent.KindOf(err) == agent.Conflict {
		return string(conversation.ClassInUse)
	}
	return string(conversation.ClassFailed)
}

// Wake has open turns looked for now.
func (s *Server) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// changed tells who waits that something became of a turn.
func (s *Server) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.change)
	s.change = make(chan struct{})
}

// heard hands on what a turn says.
func (s *Server) heard(key conversations.Key, id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for listener, wanted := range s.hearing {
		if wanted.Key != key || wanted.ID != id {
			continue
		}
		select {
		case listener <- text:
		default: // who does not listen gets the whole answer in the end
		}
	}
}
