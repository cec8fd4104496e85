package supervisor

import (
	"errors"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/launcher"
)

// A pause keeps an agent down whose launcher had its turn before it came, and keeps nobody from it.
func TestNoStartIsMadeReadyInAPause(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	over := w.has("alpha", func(r *agent.Record) {
		r.Process = &agent.Process{Invocation: agent.NewInvocation()}
		r.Exits = []agent.Exit{{Invocation: r.Process.Invocation, At: time.Now()}}
		r.Restart.Policy, r.Restarts = agent.RestartAlways, agent.Restarts{Step: 1, Next: time.Now()}
	})
	_, err := w.Pause(t.Context(), "lunch")
	w.must(err)
	ready := func() (launcher.Restart, error) {
		return Restarter{w.Project}.Ready(t.Context(), &over, store.Launch{Env: w.Project.Env, Claude: w.dir + "/claude"})
	}
	if _, err := ready(); !errors.Is(err, launcher.ErrPaused) {
		t.Errorf("in a pause: %v", err)
	}
	if r, err := w.Project.Store.Load("alpha"); err != nil || r.Process.Invocation != over.Process.Invocation {
		t.Errorf("in a pause it is claimed: %v, %+v", err, r.Process)
	}
	_, err = w.Unpause(t.Context())
	w.must(err)
	next, err := ready()
	w.must(err)
	next.Release()
}
