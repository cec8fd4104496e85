package subscribe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(m)) }

// world is a project of one agent, alpha, whose claude is a program that waits, and a subscription to it.
type world struct {
	*testing.T
	*Signs
	store *store.Store
	look  *observe.Project
	alpha agent.Record
	child *rig.Child
}

func newStoreIn(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Create(dir)
	rig.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newWorld(t *testing.T, wanted Wanted) *world {
	t.Helper()
	dir := rig.MemoryDir(t)
	s := newStoreIn(t, dir)
	s.Use(trust.NewKeeper(trust.Home(dir + "/state")))
	unlock, err := s.LockVerb("alpha", "spawn", time.Now())
	rig.Must(t, err)
	unlock()
	w := &world{T: t, store: s, look: &observe.Project{Machine: local.New(), Store: s, Now: time.Now}}
	w.child = rig.StartChild(t, exec.Command("cat"))
	w.alpha = agent.Record{
		Spec:        agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: dir, ConfigDir: filepath.Join(dir, "claude")},
		TmuxSession: "nbs-alpha-live", Started: time.Now().UTC().Truncate(time.Second), Process: w.process(w.child),
	}
	w.alpha.PID = w.alpha.Process.PID
	rig.Must(t, os.MkdirAll(filepath.Dir(w.entry()), 0o700))
	rig.Must(t, s.Insert(t.Context(), w.alpha))
	w.subscribe(wanted)
	return w
}

func (w *world) subscribe(wanted Wanted) {
	w.Helper()
	signs, err := To(w.look, wanted)
	rig.Must(w, err)
	w.Signs = signs
	w.Cleanup(signs.Close)
}

// process is a start whose claude is a child.
func (w *world) process(child *rig.Child) *agent.Process {
	w.Helper()
	id, err := local.New().Identify(child.Process.Pid)
	rig.Must(w, err)
	return &agent.Process{Identity: id, Invocation: agent.NewInvocation()}
}

// entry is alpha's file in Claude's registry.
func (w *world) entry() string {
	w.Helper()
	rig.Check(w, w.alpha.ConfigDir != "", "the user's own configuration is not for tests")
	config, err := w.look.ConfigOf(&w.alpha)
	rig.Must(w, err)
	return config.Registry().Path(w.alpha.Process.Claude().PID)
}

func (w *world) update(change func(r *agent.Record)) {
	w.Helper()
	_, err := w.store.Update(w.Context(), "alpha", func(r *agent.Record) error { change(r); return nil })
	rig.Must(w, err)
}

// next waits for a sign. Others may come before it: what is written changes more than once.
func (w *world) next(want Sign) {
	w.Helper()
	late := rig.Patient(w)
	for {
		select {
		case got := <-w.C():
			if got == want {
				return
			}
		case <-late.Done():
			w.Fatalf("no sign %+v", want)
		}
	}
}

func TestSignsOfAnAgent(t *testing.T) {
	t.Parallel()
	for _, wanted := range []Wanted{{}, {Handles: []agent.Handle{"ALPHA"}}} {
		w := newWorld(t, wanted)
		entry := filepath.Join(w.alpha.ProjectRoot, "entry")
		rig.Must(t, os.WriteFile(entry, []byte("{}"), 0o600))
		rig.Must(t, os.Rename(entry, w.entry())) // one change: the sign of a second would be joined with that of the report
		w.next(Sign{Handle: "alpha"})
		rig.Must(t, w.store.UpdateReport(t.Context(), "alpha", func(r *agent.Report) { r.SessionID = "x" }))
		w.next(Sign{Handle: "alpha", Report: true})
		w.update(func(r *agent.Record) { r.Model = "opus" })
		w.next(Sign{Handle: "alpha"})
		rig.Must(t, w.child.Process.Kill())
		w.next(Sign{Handle: "alpha"})
		rig.Must(t, w.store.Remove(t.Context(), "alpha"))
		w.next(Sign{Handle: "alpha"})
	}
}

// A report that changes together with something else gives one sign, which is not of the report only.
func TestSignsThatAreJoined(t *testing.T) {
	t.Parallel()
	watch, err := fswatch.New()
	rig.Must(t, err)
	t.Cleanup(watch.Close)
	s := newStoreIn(t, rig.MemoryDir(t))
	f := &followed{handle: "alpha"}
	f.record, f.report = s.Watched("alpha")
	signs := &Signs{look: &observe.Project{Store: s}, wanted: Wanted{Handles: []agent.Handle{"alpha"}}, watch: watch, agents: map[string]*followed{"alpha": f}}
	for _, test := range []struct {
		changed []string
		want    Sign
	}{
		{[]string{f.report, f.report}, Sign{Handle: "alpha", Report: true}},
		{[]string{f.record, f.report}, Sign{Handle: "alpha"}},
		{[]string{f.report, f.record}, Sign{Handle: "alpha"}},
	} {
		for _, file := range test.changed {
			signs.changed(fsnotify.Event{Name: file, Op: fsnotify.Create})
		}
		got, _ := signs.next()
		rig.Equal(t, got, test.want, "the sign")
		signs.taken(got)
		got, _ = signs.next()
		rig.Equal(t, got, Sign{}, "a second sign")
	}
}

// The next start of an agent, in another conversation, is followed without a word of the caller.
func TestSignsOverARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Wanted{Handles: []agent.Handle{"alpha"}, Transcripts: true})
	rig.Must(t, w.child.Process.Kill())
	w.next(Sign{Handle: "alpha"})
	claude, launcher := rig.StartChild(t, exec.Command("cat")), rig.StartChild(t, exec.Command("cat"))
	w.alpha.Process, w.alpha.SessionID = w.process(claude), agent.NewSessionID()
	w.alpha.Process.Launcher = w.process(launcher).Identified
	transcript := filepath.Join(filepath.Dir(w.entry()), "../projects/any", string(w.alpha.SessionID)+".jsonl")
	rig.Must(t, os.MkdirAll(filepath.Dir(transcript), 0o700))
	rig.Must(t, os.WriteFile(transcript, nil, 0o600))
	w.update(func(r *agent.Record) { r.Process, r.PID, r.SessionID = w.alpha.Process, w.alpha.PID, w.alpha.SessionID })
	w.next(Sign{Handle: "alpha"})
	for _, change := range []func() error{
		func() error { return os.WriteFile(w.entry(), []byte("{}"), 0o600) },
		func() error { return os.WriteFile(transcript, []byte("{}\n"), 0o600) },
		claude.Process.Kill, launcher.Process.Kill,
	} {
		rig.Must(t, change())
		w.next(Sign{Handle: "alpha"})
	}
}

// A command that is killed while it starts an agent writes nothing.
func TestEndOfACommandThatHoldsTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Wanted{})
	verb := rig.StartChild(t, exec.Command("cat"))
	rig.Must(t, os.WriteFile(w.store.VerbLock("alpha"), fmt.Appendf(nil, `{"pid":%d,"verb":"resume"}`, verb.Process.Pid), 0o600))
	w.update(func(r *agent.Record) { r.Process = nil })
	w.next(Sign{Handle: "alpha"})
	rig.Must(t, verb.Process.Kill())
	w.next(Sign{Handle: "alpha"})
}

// The conversation of a record without a process may be opened by any claude.
func TestSignsOfARecordWithoutAProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Wanted{})
	rig.Must(t, w.store.Remove(t.Context(), "alpha"))
	w.next(Sign{Handle: "alpha"})
	folder := filepath.Dir(w.entry())
	w.alpha.Process, w.alpha.PID = nil, 0
	rig.Must(t, w.store.Insert(t.Context(), w.alpha))
	w.next(Sign{Handle: "alpha"})
	rig.Must(t, os.WriteFile(folder+"/1.json", []byte("{}"), 0o600))
	w.next(Sign{Handle: "alpha"})
}

func TestSignsOfOthers(t *testing.T) {
	t.Parallel()
	pause := filepath.Join(t.TempDir(), "pause")
	w := newWorld(t, Wanted{Files: []string{pause}, Outboxes: true})
	beta := w.alpha
	beta.Handle, beta.SessionID, beta.Process = "beta", agent.NewSessionID(), nil
	rig.Must(t, w.store.Insert(t.Context(), beta))
	w.next(Sign{Handle: "beta"})
	_, err := w.store.Outbox("beta").Add(t.Context(), queue.Entry{Text: "hello", State: queue.Waiting})
	rig.Must(t, err)
	w.next(Sign{Handle: "beta"})
	w.subscribe(Wanted{Handles: []agent.Handle{"alpha"}, Files: []string{pause}})
	_, err = w.store.Update(t.Context(), "beta", func(r *agent.Record) error { r.Model = "opus"; return nil })
	rig.Must(t, err)
	rig.Must(t, os.WriteFile(pause, nil, 0o600))
	got := <-w.C()
	rig.Check(t, got == Sign{}, "a sign %+v", got)
}

// Agents can write records: one that names a folder that cannot be watched ends no subscription.
func TestFolderThatCannotBeWatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Wanted{})
	file := filepath.Join(t.TempDir(), "no-folder")
	rig.Must(t, os.WriteFile(file, nil, 0o600))
	w.update(func(r *agent.Record) { r.ConfigDir = file })
	w.next(Sign{Handle: "alpha"})
	w.update(func(r *agent.Record) { r.Model = "opus" })
	w.next(Sign{Handle: "alpha"})
	rig.Must(t, w.child.Process.Kill())
	w.next(Sign{Handle: "alpha"})
}

// However long a claude has been starting, there is a sign of it soon; none of one whose state is shown.
func TestSignsByTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Signs{rung: make(chan agent.Handle), clocks: map[string]context.CancelFunc{}}
		look := &observe.Sight{Status: agent.Status{State: agent.Starting}}
		s.Looked("alpha", look)
		var pauses []time.Duration
		for range 7 {
			before := time.Now()
			<-s.rung
			pauses = append(pauses, time.Since(before)/time.Second)
			s.Looked("alpha", look)
		}
		rig.Check(t, slices.Equal(pauses, []time.Duration{1, 2, 4, 8, 16, 30, 30}), "%d", pauses)
		s.Looked("alpha", &observe.Sight{Status: agent.Status{State: agent.Idle, SamePID: true, Source: agent.FromRegistry}})
		rig.Check(t, len(s.clocks) == 0, "%d clocks", len(s.clocks)) // or the test would not end
		s.Looked("alpha", &observe.Sight{Status: agent.Status{State: agent.Idle, Source: agent.FromHooks}, Job: &observe.Job{}})
		<-s.rung
		s.Looked("alpha", &observe.Sight{Status: agent.Status{State: agent.Dead}})
		rig.Check(t, len(s.clocks) == 0, "%d clocks", len(s.clocks)) // or the test would not end
	})
}

func TestWhyThereAreNoMoreSigns(t *testing.T) {
	t.Parallel()
	watch, err := fswatch.New()
	rig.Must(t, err)
	s := &Signs{c: make(chan Sign), ended: make(chan struct{}), watch: watch}
	s.lost(syscall.EMFILE)
	s.pump()
	_, open := <-s.C()
	rig.Check(t, !open && fail.KindOf(s.Err()) == fail.Unfit && errors.Is(s.Err(), syscall.EMFILE), "%t, %v", open, s.Err())
}
