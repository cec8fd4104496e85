// Package serve runs the long-lived parts of conversations in one foreground process: turns on warm claudes, accepted
// turns without an answer, schedules, and the bridge to chats.
//
//   - It is optional: nbs-worker ask runs turns without it too. All state is on disk: a killed server loses nothing.
//   - There is one server per project. Its socket is in the user's runtime folder, mode 0600. A caller sends the key
//     and ID of an accepted turn, and gets its result. The only text that a caller can send is one for a chat.
//   - When it ends, it ends its claudes. The next server or caller runs the open turns.
package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
)

// Server serves one project.
type Server struct {
	Engine    *conversation.Engine
	Beside    []func(context.Context) error // run while the server runs: schedules, bridges
	Said      func(format string, args ...any)
	Begin     func(ctx context.Context) error                            // called before any turn is run; nil: not called
	Ready     func() error                                               // called once the server takes requests; nil: not called
	Tell      func(ctx context.Context, to, text string) error           // to a chat, by its key; nil: no bridge
	Relay     func(ctx context.Context, to, text string) error           // the same for what Claude said, which is Markdown
	Scheduled func(ctx context.Context, name string, at time.Time) error // runs a schedule by hand; nil: no schedules
	Metrics   net.Listener                                               // serves metrics and health too; nil: only on the socket

	counts  counts
	warned  sync.Map // Claude's warnings that were reported
	mu      sync.Mutex
	hearing map[*listener]bool
	trouble map[conversations.Key]conversations.Held // why a conversation was held at the last try
	change  chan struct{}                            // closed, and replaced, when a turn has changed
	wake    chan struct{}
}

// New returns a server that does not run yet.
func New(e *conversation.Engine, said func(format string, args ...any)) *Server {
	s := &Server{
		Engine: e, Said: said, hearing: map[*listener]bool{}, trouble: map[conversations.Key]conversations.Held{},
		change: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	e.Heard, e.Over, e.Hastened = s.heard, s.over, s.Wake
	s.count()
	return s
}

// over is called with the result of each turn. It reports each of Claude's warnings once.
func (s *Server) over(r conversations.Result) {
	s.counts.turn(r)
	if _, told := s.warned.LoadOrStore(r.Warning, true); !told && r.Warning != "" {
		s.Said("Claude warns: %s", r.Warning)
	}
	s.changed()
}

// rescan is how often to look for open turns of other processes: a killed caller announces nothing.
const rescan = 15 * time.Second

// ending is how long a stopping server waits for its open requests: their claudes are ended first.
const ending = 20 * time.Second

// Run serves until the context ends. Errors: Conflict when the project already has a server.
func (s *Server) Run(ctx context.Context) error {
	release, err := s.Engine.Project.Store.LockServe(s.Engine.Project.Now())
	if err != nil {
		return err
	}
	defer release()
	listener, forget, err := listen(ctx, s.Engine.Project.Store)
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
	if s.Begin != nil {
		if err := s.Begin(ctx); err != nil {
			return err
		}
	}
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

// end shuts a server down, and waits for its open requests, which end with their claudes.
func end(ctx context.Context, server *http.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close()
	}
}

// greet reports the state of each conversation.
func (s *Server) greet() {
	keys, err := s.Engine.Project.Store.Conversations().Keys()
	if err != nil {
		s.Said("some conversations cannot be read: %s", err)
	}
	for _, key := range keys {
		if state, err := s.Engine.Project.Store.Conversations().Of(key).State(); err == nil {
			s.Said("%s: %s", key, conversation.Describe(&state))
		}
	}
}

// work runs the open turns that have no waiting caller, until the context ends.
func (s *Server) work(ctx context.Context) error {
	if err := s.Engine.TakeUp(ctx); err != nil {
		s.Said("some turns that are held are not tried yet: %s", err)
	}
	running := inProgress{again: map[conversations.Key]bool{}}
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
		s.drainAll(ctx, &running, &all)
	}
}

// drainAll drains, beside it, each conversation with open turns. One that is drained already is looked at again at the end of
// that; the others are not: turns that are held would wake each other for ever.
func (s *Server) drainAll(ctx context.Context, running *inProgress, all *sync.WaitGroup) {
	keys, _ := s.Engine.Project.Store.Conversations().WithWork() // the list of conversations reports unreadable ones
	for _, key := range keys {
		if !running.begins(key) {
			continue
		}
		all.Go(func() {
			for more := true; more; more = running.goesOn(key) && ctx.Err() == nil {
				s.drain(ctx, key)
			}
		})
	}
}

// inProgress are the keys that are drained, with whether one had open turns meanwhile: its drain may have looked for the
// last time before.
type inProgress struct {
	mu    sync.Mutex
	again map[conversations.Key]bool
}

// begins reports whether the key was not in progress.
func (p *inProgress) begins(key conversations.Key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, busy := p.again[key]
	p.again[key] = busy
	return !busy
}

// goesOn reports whether to look at the key again. If not, it is not in progress any more.
func (p *inProgress) goesOn(key conversations.Key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	again := p.again[key]
	if p.again[key] = false; !again {
		delete(p.again, key)
	}
	return again
}

// drain runs the open turns of a conversation.
func (s *Server) drain(ctx context.Context, key conversations.Key) {
	until, err := s.Engine.Drain(ctx, key)
	if ctx.Err() != nil {
		return
	}
	s.note(key, err)
	if wait := until.Sub(s.Engine.Project.Now()); err == nil && !until.IsZero() && wait < rescan { // rescan finds later ones
		time.AfterFunc(wait, s.Wake)
	}
}

// note records why a conversation is held, reports each reason once, and wakes the callers that wait for a turn. If a
// turn waits for a person, its journal says so as well.
func (s *Server) note(key conversations.Key, err error) {
	now := s.Engine.Project.Now()
	s.mu.Lock()
	held := s.trouble[key]
	isNew := err != nil && held.Reason != err.Error()
	switch {
	case err == nil:
		delete(s.trouble, key)
	case isNew:
		s.trouble[key] = conversations.Held{Class: classOf(err), Reason: err.Error(), At: now, Until: now.Add(rescan), Mends: true}
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

// classOf returns the class of a failure that keeps a turn from being tried; "" if the turn's journal has it.
func classOf(err error) string {
	switch {
	case errors.Is(err, conversation.ErrDeadLetter), errors.Is(err, conversation.ErrMends):
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

// changed wakes the callers that wait for the outcome of a turn.
func (s *Server) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.change)
	s.change = make(chan struct{})
}
