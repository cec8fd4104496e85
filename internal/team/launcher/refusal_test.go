package launcher

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"

	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

const (
	alphaID = agent.SessionID("4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")
	start   = agent.Invocation("11111111-0d0c-4b43-9e0a-2f6b8f5c9a11")
	later   = agent.Invocation("22222222-0d0c-4b43-9e0a-2f6b8f5c9a11")
)

// newProject has an agent whose start is on its way.
func newProject(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Create(rig.MemoryDir(t))
	rig.Must(t, err)
	s.Use(trust.NewKeeper(trust.Home(filepath.Join(t.TempDir(), "state"))))
	t.Cleanup(func() { _ = s.Close() })
	unlock, err := s.LockVerb("alpha", "spawn", time.Now())
	rig.Must(t, err)
	t.Cleanup(unlock)
	record := agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Handle: "alpha", SessionID: alphaID, ProjectRoot: s.Project(),
		},
		TmuxSession: "nbs-alpha-live", Started: time.Now(), Desired: agent.DesiredRunning,
		Process: &agent.Process{Invocation: start},
	}
	rig.Must(t, s.Insert(t.Context(), record))
	rig.Must(t, s.PutLaunch("alpha", store.Launch{Invocation: start}))
	return s
}

// A refusal that could not be written down is no start that was superseded: both are
// conflicts, and only of the latter is there nothing to say.
func TestRefusalThatCannotBeRecordedIsSaid(t *testing.T) {
	t.Parallel()
	s := newProject(t)
	release, err := s.AcquireLease(alphaID, store.Holder{PID: 1, Verb: "run", Handle: "alpha"})
	rig.Must(t, err)
	defer release()
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0)) // for the lock of the record
	defer cancel()
	l := &Launcher{Machine: local.New(), Store: s, Now: time.Now}
	_, err = l.Run(late, "alpha", start)
	if err == nil || !strings.Contains(err.Error(), "is open already") || !strings.Contains(err.Error(), "alpha.record stayed locked") {
		t.Errorf("Run = %v; want both causes", err)
	}
}

// What keeps claude from being started may keep that from being written down too.
func TestOneCauseOfTwoFailuresIsSaidOnce(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	l := &Launcher{Machine: local.New(), Store: newProject(t), Now: time.Now}
	_, err := l.Run(late, "alpha", start)
	if err == nil || strings.Count(err.Error(), "alpha.record stayed locked") != 1 || len(fail.HintsOf(err)) != 1 {
		t.Errorf("Run = %v, hints %q; want the cause once", err, fail.HintsOf(err))
	}
}

func TestSupersededStartLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s := newProject(t)
	if _, err := s.Update(t.Context(), "alpha", func(r *agent.Record) error { r.Process.Invocation = later; return nil }); err != nil {
		t.Fatal(err)
	}
	l := &Launcher{Machine: local.New(), Store: s, Now: time.Now}
	_, err := l.Run(t.Context(), "alpha", start)
	rig.Check(t, errors.Is(err, agent.ErrSuperseded) && !strings.Contains(err.Error(), "\n"), "Run = %v; want %q once", err, agent.ErrSuperseded)
	if r, err := s.Load("alpha"); err != nil || len(r.Exits) != 0 {
		t.Errorf("the record tells of it: %+v, %v", r.Exits, err)
	}
}
