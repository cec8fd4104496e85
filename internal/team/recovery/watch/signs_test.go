package watch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/store/watching"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/triage"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(m)) }

// signs is a project of one agent, alpha, which is followed while it runs in a program that waits.
type signs struct {
	*testing.T
	*Files
	store  *store.Store
	config string
	alpha  recovery.Patient
	child  *rig.Child
}

func newSigns(t *testing.T) *signs {
	t.Helper()
	dir := rig.MemoryDir(t)
	s, err := store.Create(dir)
	rig.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	s.Use(trust.NewKeeper(trust.Home(dir + "/state")))
	unlock, err := s.LockVerb("alpha", "spawn", time.Now())
	rig.Must(t, err)
	unlock()
	look := &inspect.Inspector{Keeper: keep.Keeper{Observer: observe.Observer{Machine: local.New(), Store: s, Env: []string{"HOME=" + dir}, Now: time.Now}}}
	ctx, cancel := context.WithCancel(context.Background())
	files, err := NewFiles(ctx, look)
	rig.Must(t, err)
	t.Cleanup(func() {
		cancel()
		for range files.C() { // until it is closed
		}
	})
	w := &signs{T: t, Files: files, store: s, config: filepath.Join(dir, ".claude"), child: rig.StartChild(t, exec.Command("cat"))}
	id, err := local.New().Identify(w.child.Process.Pid)
	rig.Must(t, err)
	r := agent.Record{
		Spec:        agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: dir},
		TmuxSession: "nbs-alpha-live", Started: time.Now().UTC().Truncate(time.Second), PID: id.PID, Process: &agent.Process{Identity: id, Invocation: agent.NewInvocation()},
	}
	rig.Must(t, s.Insert(t.Context(), r))
	w.alpha = recovery.Patient{Assessment: triage.Assessment{Handle: "alpha"}}
	w.alpha.View.Record, w.alpha.View.Status.State, w.alpha.View.Status.Source = r, agent.Idle, agent.FromRegistry
	w.next("alpha") // its record is new
	rig.Must(t, os.MkdirAll(filepath.Dir(w.entry()), 0o700))
	w.follow()
	w.next("alpha") // it was looked at before it was followed
	return w
}

func (w *signs) entry() string {
	config, err := w.look.ConfigOf(&w.alpha.View.Record)
	rig.Must(w, err)
	return config.Registry().Path(w.alpha.View.Record.Process.Claude().PID)
}

func (w *signs) follow() {
	w.Helper()
	rig.Must(w, w.Follow([]recovery.Patient{w.alpha}))
}

// next waits for a sign of an agent. Others of the same may come before it: what is written
// changes more than once.
func (w *signs) next(handle agent.Handle) {
	w.Helper()
	late := rig.Patient(w)
	for {
		select {
		case got := <-w.C():
			if got == handle {
				return
			}
		case <-late.Done():
			w.Fatalf("no sign of %q", handle)
		}
	}
}

func TestSignsOfAnAgent(t *testing.T) {
	t.Parallel()
	w := newSigns(t)
	w.follow() // nothing of it is new
	rig.Must(t, os.WriteFile(w.entry(), []byte("{}"), 0o600))
	w.next("alpha")
	rig.Must(t, w.store.UpdateReport(t.Context(), "alpha", func(r *agent.Report) { r.SessionID = "x" }))
	w.next("alpha")
	_, err := w.store.Update(t.Context(), "alpha", func(r *agent.Record) error { r.Model = "opus"; return nil })
	rig.Must(t, err)
	w.next("alpha")
	rig.Must(t, w.child.Process.Kill())
	w.next("alpha")
}

// While it works its report changes all the time: the registry tells when it stops.
func TestReportOfOneAtWorkIsNoSign(t *testing.T) {
	t.Parallel()
	w := newSigns(t)
	w.alpha.Working = true
	w.follow()
	rig.Must(t, w.store.UpdateReport(t.Context(), "alpha", func(r *agent.Report) { r.SessionID = "x" }))
	rig.Must(t, w.store.Watching().SetPause(watching.Pause{Since: time.Now()})) // comes behind it
	if got := <-w.C(); got != "" {
		t.Errorf("the sign of a pause is %q", got)
	}
}

func TestSignsOfThePauseAndOfNewAgents(t *testing.T) {
	t.Parallel()
	w := newSigns(t)
	rig.Must(t, w.store.Watching().SetPause(watching.Pause{Since: time.Now()}))
	w.next("")
	_, err := w.store.Watching().EndPause()
	rig.Must(t, err)
	w.next("")
	beta := w.alpha.View.Record
	beta.Handle, beta.SessionID = "beta", agent.NewSessionID()
	rig.Must(t, w.store.Insert(t.Context(), beta))
	w.next("beta")
}

// What a record says of where its configuration is ends no watch, nor has it told again and again.
func TestFolderThatCannotBeWatched(t *testing.T) {
	t.Parallel()
	w := newSigns(t)
	entry := filepath.Join(w.config, "no-folder")
	rig.Must(t, os.MkdirAll(w.config, 0o700))
	rig.Must(t, os.WriteFile(entry, nil, 0o600))
	w.alpha.View.Record.ConfigDir, w.alpha.Working = entry, true
	w.follow()
	w.next("alpha") // its entry is another
	w.follow()
	rig.Must(t, w.store.Watching().SetPause(watching.Pause{Since: time.Now()}))
	w.next("")
	_, err := w.store.Update(t.Context(), "alpha", func(r *agent.Record) error { r.Model = "opus"; return nil })
	rig.Must(t, err)
	w.next("alpha")
}

// Of one that backs off its launcher is followed: with that nobody starts it again.
func TestLauncherThatEndsWhileItBacksOff(t *testing.T) {
	t.Parallel()
	w := newSigns(t)
	launcher := rig.StartChild(t, exec.Command("cat"))
	id, err := local.New().Identify(launcher.Process.Pid)
	rig.Must(t, err)
	rig.Must(t, w.child.Process.Kill())
	w.next("alpha")
	w.alpha.View.Record.Process.Launcher, w.alpha.View.Status.State = id.Identified, agent.Backoff
	w.follow()
	w.next("alpha") // it was looked at before it was followed
	rig.Must(t, launcher.Process.Kill())
	w.next("alpha")
}

func TestWhyThereAreNoMoreSigns(t *testing.T) {
	t.Parallel()
	w := newSigns(t)
	w.lost(errors.New("no inotify"))
	err := w.Follow([]recovery.Patient{w.alpha})
	rig.Check(t, err != nil && errors.Is(err, w.Err()), "%v; want %v", err, w.Err())
}

// An agent that was brought back is another start: it is looked at once more.
func TestNewStartIsFollowed(t *testing.T) {
	t.Parallel()
	w := newSigns(t)
	other := rig.StartChild(t, exec.Command("cat"))
	id, err := local.New().Identify(other.Process.Pid)
	rig.Must(t, err)
	w.alpha.View.Record.Process = &agent.Process{Identity: id, Invocation: agent.NewInvocation()}
	w.follow()
	w.next("alpha")
	rig.Must(t, other.Process.Kill())
	w.next("alpha")
}
