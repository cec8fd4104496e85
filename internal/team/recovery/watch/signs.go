package watch

import (
	"context"
	"errors"
	"sync"

	"github.com/fsnotify/fsnotify"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/recovery"
)

// Files are the [Signs] of a project: its records and reports, Claude's registry, the mark of a pause, and the ends
// of claudes and launchers. Between changes it sleeps.
type Files struct {
	look *inspect.Inspector
	c    chan agent.Handle
	wake chan struct{} // filled when a sign is pending

	mu      sync.Mutex // guards all fields below
	watch   *fswatch.Watch
	follows map[string]followed  // by the agent's key
	pending map[agent.Handle]int // how many signs are delivered as the next one
	err     error
}

// followed is what is watched for one agent.
type followed struct {
	handle         agent.Handle
	record, report string
	entry          string // of Claude's registry; "": no entry is watched
	processes      [2]agent.Identified
	noisy          bool // its report changes all the time, and the registry has what matters
}

// NewFiles starts to watch the files of a project, until the context ends.
func NewFiles(ctx context.Context, look *inspect.Inspector) (*Files, error) {
	changes, err := fswatch.New()
	if err != nil {
		return nil, err
	}
	f := &Files{
		look: look, watch: changes, c: make(chan agent.Handle), wake: make(chan struct{}, 1),
		follows: map[string]followed{}, pending: map[agent.Handle]int{},
	}
	record, report := look.Store.Watched("any")
	for _, path := range []string{record, report, look.Store.Watching().PauseFile()} {
		if err := changes.File(path); err != nil {
			changes.Close()
			return nil, err
		}
	}
	go f.pump(ctx)
	return f, nil
}

// C returns the channel of the signs. Several undelivered signs of one agent are delivered as one.
func (f *Files) C() <-chan agent.Handle { return f.c }

// Err returns why the channel is closed.
func (f *Files) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// Follow watches the files and processes of these agents. An agent with a new process or registry entry gets a sign
// at once, because it was looked at before these were watched.
func (f *Files) Follow(patients []recovery.Patient) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.err
	}
	for i := range patients {
		now := f.tellers(&patients[i])
		if err := f.armEntry(&now); err != nil {
			return err
		}
		before := f.follows[now.handle.Key()]
		f.follows[now.handle.Key()] = now
		if now.entry != before.entry || now.processes != before.processes {
			f.add(now.handle)
		}
		if err := f.arm(now); err != nil {
			return err
		}
	}
	return nil
}

// tellers returns what to watch for an agent; no registry entry if its configuration is unknown.
func (f *Files) tellers(p *recovery.Patient) followed {
	r := &p.View.Record
	now := followed{handle: p.Handle, noisy: p.Working && p.View.Status.Source == agent.FromRegistry}
	now.record, now.report = f.look.Store.Watched(p.Handle)
	if r.Process == nil {
		return now
	}
	if config, err := f.look.ConfigOf(r); err == nil && !p.View.Status.Down() {
		now.entry = config.Registry().Path(r.Process.Claude().PID)
	}
	for i, id := range []agent.Identity{r.Process.Identity, r.Process.LauncherIdentity()} {
		if f.look.Machine.IsAlive(id) {
			now.processes[i] = id.Identified
		}
	}
	return now
}

// armEntry watches an entry of Claude's registry. Its path comes from the record, which agents can write. So an entry
// that cannot be watched is dropped, and the other entries are still watched.
func (f *Files) armEntry(now *followed) error {
	if now.entry == "" {
		return nil
	}
	err := f.watch.File(now.entry)
	if err == nil || fail.KindOf(err) == fail.Unfit {
		return err
	}
	now.entry, now.noisy = "", false
	return nil
}

func (f *Files) arm(now followed) error {
	for _, path := range []string{now.record, now.report, f.look.Store.Watching().PauseFile()} {
		if err := f.watch.File(path); err != nil {
			return err
		}
	}
	for _, id := range now.processes {
		if err := f.watch.Process(f.look.Machine, id); err != nil {
			return err
		}
	}
	return nil
}

// add queues a sign of an agent.
func (f *Files) add(handle agent.Handle) {
	f.pending[handle]++
	select {
	case f.wake <- struct{}{}:
	default: // pump is already awake
	}
}

// pump delivers signs until the context ends.
func (f *Files) pump(ctx context.Context) {
	defer close(f.c)
	defer f.close()
	for {
		next, signs, out := f.next()
		select {
		case <-ctx.Done():
			return
		case out <- next:
			f.taken(next, signs)
		case <-f.wake:
		case event := <-f.watch.Events():
			f.changed(event)
		case id := <-f.watch.Ended():
			f.ended(id)
		case err := <-f.watch.Errors():
			if !f.lost(err) {
				return
			}
		}
	}
}

func (f *Files) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watch.Close()
}

// next returns the agent with pending signs, and the channel for it; the channel is nil if no sign is pending.
func (f *Files) next() (handle agent.Handle, signs int, out chan<- agent.Handle) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for handle, signs := range f.pending {
		return handle, signs, f.c
	}
	return "", 0, nil
}

// taken forgets delivered signs. The receiver may have caused another sign since.
func (f *Files) taken(handle agent.Handle, signs int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending[handle] == signs {
		delete(f.pending, handle)
	}
}

// changed queues a sign for the agent that a changed file belongs to. A record of no followed agent may belong to a
// new agent; any other file belongs to another project.
func (f *Files) changed(event fsnotify.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if event.Name == f.look.Store.Watching().PauseFile() || f.watch.Rebuilds(event) {
		f.add("")
		return
	}
	for _, by := range f.follows {
		switch event.Name {
		case by.report:
			if by.noisy {
				return
			}
			f.add(by.handle)
			return
		case by.record, by.entry:
			f.add(by.handle)
			return
		}
	}
	if handle, isRecord := f.look.Store.RecordOf(event.Name); isRecord {
		f.add(handle)
	}
}

func (f *Files) ended(id agent.Identified) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watch.Forget(id)
	for _, by := range f.follows {
		if by.processes[0] == id || by.processes[1] == id {
			f.add(by.handle)
		}
	}
}

// lost reports whether the watch goes on after an error. After lost signs, any agent may have changed.
func (f *Files) lost(err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		f.add("")
		return true
	}
	f.err = fswatch.Failed(err)
	return false
}
