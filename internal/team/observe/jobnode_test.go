package observe

import (
	"errors"
	"os"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/platform/slurm"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	userstrust "nbs-worker/internal/store/trust"
)

// Commands are run on a node only in the running job of a sealed record, and only if that is not here.
func TestTheJobElsewhere(t *testing.T) {
	t.Parallel()
	dir := rig.MemoryDir(t)
	opened, err := store.Create(dir)
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(userstrust.NewKeeper(userstrust.Home(dir + "/state")))
	unlock, err := opened.LockVerb("alpha", "spawn", now) // which makes the folders
	rig.Must(t, err)
	unlock()
	o := &Project{Machine: local.New(), Store: opened}
	sealed := inJob("nbs-a", anInvocation, 7)
	sealed.Spec = agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: dir, ConfigDir: dir + "/claude"}
	sealed.Started, sealed.Process.StartTicks, sealed.Process.BootID = now, 7, "00000000-0000-4000-8000-00000000000b"
	rig.Must(t, opened.Insert(t.Context(), sealed))
	sealed, err = opened.Load("alpha")
	rig.Must(t, err)
	forged := sealed
	forged.Process = new(*sealed.Process)
	forged.Process.Job = "slurm/rig/training"
	here := sealed
	here.Process = new(*sealed.Process)
	here.Process.Identity, err = o.Machine.Identify(os.Getpid())
	rig.Must(t, err)
	runs := &Job{Job: slurm.Job{ID: "12", State: "RUNNING", Node: "n1"}}
	idle := agent.Status{State: agent.Idle, Source: agent.FromHooks}
	for what, c := range map[string]struct {
		record agent.Record
		job    *Job
		status agent.Status
		want   bool
	}{
		"it runs":               {sealed, runs, idle, true},
		"it runs on a new node": {sealed, &Job{Job: slurm.Job{ID: "12", State: "RUNNING", Node: "n2"}}, idle, false},
		"its record is forged":  {forged, runs, idle, false},
		"it runs here":          {here, runs, idle, false},
		"it is in no job":       {sealed, nil, idle, false},
		"it has ended":          {sealed, runs, agent.Status{State: agent.Dead}, false},
		"its job waits":         {sealed, &Job{Job: slurm.Job{ID: "12", State: "PENDING"}}, idle, false},
		"its job is suspended":  {sealed, &Job{Job: slurm.Job{ID: "12", State: "SUSPENDED", Node: "n1"}}, idle, false},
		"no answer of Slurm":    {sealed, &Job{Err: errors.New("squeue: down")}, idle, false},
	} {
		j := o.JobElsewhere(&Sight{Record: c.record, Job: c.job, Status: c.status})
		rig.Equal(t, j != nil, c.want, "%s", what)
	}
	o.Env = []string{"SLURM_JOB_ID=12"} // a command in the job that sees the agent no better
	rig.Check(t, o.JobElsewhere(&Sight{Record: sealed, Job: runs, Status: idle}) == nil, "in the job itself")
	o.Env = []string{"SLURM_JOB_ID=13"}
	rig.Check(t, o.JobElsewhere(&Sight{Record: sealed, Job: runs, Status: idle}) != nil, "in another job")
}
