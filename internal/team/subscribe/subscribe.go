// Package subscribe reports when agents may have changed: a caller that shows or awaits their states sleeps until then.
//
//   - A sign names an agent that may have changed; a look shows how. Signs that were not taken yet are joined, so that
//     a slow caller gets one sign of an agent that has changed often.
//   - A sign comes from the agent's record, the report of its hooks, its entry in Claude's registry, and the ends of
//     its claude, of its launcher, and of a command that holds its verb lock; on request also from its transcript and
//     its outbox.
//   - It follows an agent over a restart: before it gives a sign, it watches the files and the processes that the
//     record names now. So a caller that looks after [To] has returned, and after each sign, misses no change.
//   - It does not poll. Only for an agent whose state no file shows, such as one at a first-run dialog, it gives signs
//     by the clock: see [Signs.Looked].
//
// Costs: one inotify instance; a file watch for each folder, which are two of .nbs for all agents, one for each of
// Claude's configurations, and on request one for all outboxes and one for the transcripts of each working folder; and
// a descriptor for each process, which are two of an agent that runs. To subscribe to 100 agents takes 16 ms and four
// watches. A change of a record or of a registry entry costs reading the agent's record. While nothing changes, nothing
// runs.
package subscribe

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/observe"
)

// Wanted says what a caller subscribes to.
type Wanted struct {
	Handles     []agent.Handle // empty: all agents of the project, new ones included
	Transcripts bool           // also changes of their transcripts; a new one counts from the next change of its agent
	Outboxes    bool           // also changes of their outboxes
	Files       []string       // each change of one of these is a sign of all agents; "DIR" + AnyFile: all files of a folder
}

// Sign says that an agent may have changed.
type Sign struct {
	Handle agent.Handle // "": any agent may have changed, and the list of agents too
	Report bool         // only the report of its hooks has changed, which happens all the time while it works
}

// Signs is a subscription.
type Signs struct {
	look   *observe.Project
	wanted Wanted
	c      chan Sign
	rung   chan agent.Handle
	clocks map[string]context.CancelFunc // by the agent's key: ends its signs by the clock
	closed chan struct{}                 // by Close
	ended  chan struct{}                 // by pump, to which all fields below belong

	watch  *fswatch.Watch
	agents map[string]*followed // by the agent's key
	any    bool                 // a sign of all agents is due
	stale  bool                 // a watched folder may have been replaced
	err    error
}

// To subscribes. The caller closes the subscription. Errors: Unfit at a limit of the kernel.
func To(o *observe.Project, wanted Wanted) (*Signs, error) {
	watch, err := fswatch.New()
	if err != nil {
		return nil, err
	}
	s := &Signs{
		look: o, wanted: wanted, c: make(chan Sign), rung: make(chan agent.Handle), clocks: map[string]context.CancelFunc{},
		closed: make(chan struct{}), ended: make(chan struct{}), watch: watch, agents: map[string]*followed{}, stale: true,
	}
	if s.arm(); s.err != nil {
		watch.Close()
		return nil, s.err
	}
	go s.pump()
	return s, nil
}

// C returns the channel of the signs. It is closed when the subscription has failed.
func (s *Signs) C() <-chan Sign { return s.c }

// Err returns why C is closed. Errors: Unfit at a limit of the kernel; Failed.
func (s *Signs) Err() error { return s.err }

// Close ends the subscription, and releases what it has watched.
func (s *Signs) Close() {
	for _, stop := range s.clocks {
		stop()
	}
	close(s.closed)
	<-s.ended
}

// Looked tells the subscription what the caller's last look showed of an agent. If Claude's registry does not show its state, there is a
// sign of it after 1, 2, 4 ... 30 seconds, until another look sees otherwise: a first-run dialog changes no file, nor
// does a start that takes long, nor a job of Slurm. What another machine writes into a shared folder is no event here.
//
//nolint:contextcheck,nolintlint // the clock runs until the subscription is closed; as fswatch.Watch.Process
func (s *Signs) Looked(handle agent.Handle, sight *observe.Sight) {
	status := &sight.Status
	shown := status.State != agent.Starting && (!status.SamePID || status.Source == agent.FromRegistry) && sight.Job == nil
	switch stop := s.clocks[handle.Key()]; {
	case stop != nil && shown:
		stop()
		delete(s.clocks, handle.Key())
	case stop == nil && !shown:
		ctx, stop := context.WithCancel(context.Background())
		s.clocks[handle.Key()] = stop
		go s.ring(ctx, handle)
	}
}

const longestPause = 30 * time.Second

// ring has pump give signs of an agent by the clock.
func (s *Signs) ring(ctx context.Context, handle agent.Handle) {
	for pause := time.Second; clock.Sleep(ctx, pause) == nil; pause = min(2*pause, longestPause) {
		select {
		case s.rung <- handle:
		case <-ctx.Done():
		}
	}
}

// pump delivers signs until the subscription is closed or fails.
func (s *Signs) pump() {
	defer close(s.ended)
	defer s.watch.Close()
	for {
		s.arm()
		if s.err != nil {
			close(s.c)
			return
		}
		sign, out := s.next()
		select {
		case <-s.closed:
			return
		case out <- sign:
			s.taken(sign)
		case event := <-s.watch.Events():
			s.changed(event)
		case id := <-s.watch.Ended():
			s.watch.Forget(id)
			s.markIf(func(f *followed) bool { return f.processes[id] })
		case handle := <-s.rung:
			s.markIf(func(f *followed) bool { return f.handle.Same(handle) })
		case err := <-s.watch.Errors():
			s.lost(err)
		}
	}
}

// lost handles an error of the watch. A lost event may concern any agent.
func (s *Signs) lost(err error) {
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		s.markAll()
		return
	}
	s.err = fswatch.Failed(err)
}

// next returns the next sign, and the channel for it; the channel is nil if no sign is due.
func (s *Signs) next() (Sign, chan<- Sign) {
	if s.any {
		return Sign{}, s.c
	}
	for _, f := range s.agents {
		if f.due || f.reported {
			return Sign{Handle: f.handle, Report: !f.due}, s.c
		}
	}
	return Sign{}, nil
}

func (s *Signs) taken(sign Sign) {
	if sign.Handle == "" {
		s.any = false
		return
	}
	f := s.agents[sign.Handle.Key()]
	f.due, f.reported = false, false
}

// changed marks the agents that a changed file belongs to. A record of no followed agent may be of a new one.
func (s *Signs) changed(event fsnotify.Event) {
	if s.watch.Rebuilds(event) {
		s.markAll()
		return
	}
	if slices.Contains(s.wanted.Files, event.Name) || slices.Contains(s.wanted.Files, filepath.Dir(event.Name)+AnyFile) {
		s.any = true
		return
	}
	if handle, isRecord := s.look.Store.RecordOf(event.Name); isRecord && len(s.wanted.Handles) == 0 {
		s.follow(handle)
	}
	s.markIf(func(f *followed) bool { return f.hasFile(event.Name) })
	for _, f := range s.agents {
		f.reported = f.reported || f.report == event.Name
	}
}

// follow begins to follow an agent, unless it is followed.
func (s *Signs) follow(handle agent.Handle) {
	if s.agents[handle.Key()] != nil {
		return
	}
	f := &followed{handle: handle}
	f.record, f.report = s.look.Store.Watched(handle)
	if s.wanted.Outboxes {
		f.outbox = filepath.Join(s.look.Store.Folder(), queue.Folder, handle.Key()+".")
	}
	s.agents[handle.Key()] = f
}

// markIf marks agents as changed.
func (s *Signs) markIf(concerned func(*followed) bool) {
	for _, f := range s.agents {
		if concerned(f) {
			f.due, f.stale = true, true
		}
	}
}

// markAll marks all agents as changed, and those to come.
func (s *Signs) markAll() { s.any, s.stale = true, true }
