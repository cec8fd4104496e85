package dash

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/platform/slurm"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// A screen that a node could not show is no empty screen.
func TestScreenThatANodeCannotShow(t *testing.T) {
	bin := t.TempDir()
	rig.WriteProgram(t, filepath.Join(bin, "srun"), "#!/bin/sh\necho 'nbs-worker: screen alice: it has no terminal' >&2; exit 2\n")
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	opened, err := store.Create(t.TempDir())
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(t.TempDir())))
	unlock, err := opened.LockVerb("alice", "spawn", noon)
	rig.Must(t, err)
	unlock()
	id := agent.Identity{Identified: agent.Identified{PID: 7, StartTicks: 7}, BootID: "another", PIDNS: 1, Host: "n1"}
	rig.Must(t, opened.Insert(t.Context(), agent.Record{
		Spec: agent.Spec{Schema: agent.Schema, Handle: "alice", SessionID: agent.NewSessionID(), ProjectRoot: opened.Project(), ConfigDir: bin},
		PID:  7, Started: storetest.SomeTime(), Process: &agent.Process{Identity: id, Invocation: agent.NewInvocation(), Job: "slurm/rig/nbs-a"},
	}))
	r, err := opened.Load("alice")
	rig.Must(t, err)
	o := &observe.Project{Machine: local.New(), Store: opened, Program: "nbs-worker", Now: time.Now, Env: []string{"PATH=" + os.Getenv("PATH")}}
	p := &project{inspector: &inspect.Inspector{Project: o}}
	job := &observe.Job{Job: slurm.Job{ID: "12", State: "RUNNING", Node: "n1"}}
	_, err = p.screen(t.Context(), &inspect.Row{Handle: "alice", Sight: observe.Sight{Record: r, Job: job, Status: agent.Status{State: agent.Idle}}})
	rig.Check(t, err != nil && err.Error() == "screen alice: it has no terminal", "%v", err)
}
