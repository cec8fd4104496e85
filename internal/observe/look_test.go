package observe

import (
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"

	"nbs-worker/internal/sim/rig"
)

// Between the reading of a record and the look at its processes the launcher may write
// the exit down and leave. Whoever looks then must not take it for killed.
func TestExitThatIsRecordedWhileWeLook(t *testing.T) {
	t.Parallel()
	opened, err := store.Create(t.TempDir())
	rig.Must(t, err)
	use(t, opened)
	defer opened.Close()
	if _, err := opened.LockVerb("alpha", "spawn", time.Now()); err != nil {
		t.Fatal(err)
	}
	gone, err := proc.Self()
	rig.Must(t, err)
	gone.StartTicks, gone.PidfdInode = gone.StartTicks-1, 0 // as that of an earlier process with this pid
	seen := agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: opened.Project(),
		},
		PID: gone.PID, Process: &agent.Process{Invocation: agent.NewInvocation(), Identity: gone, Launcher: gone.Identified},
	}
	rig.Must(t, opened.Insert(t.Context(), seen))
	_, err = opened.Update(t.Context(), "alpha", func(r *agent.Record) error {
		r.AddExit(agent.Exit{Invocation: r.Process.Invocation, Code: -1, Signal: "killed"})
		return nil
	})
	rig.Must(t, err)
	o := &Observer{Store: opened, Now: time.Now}
	sight := o.LookAt(t.Context(), seen)
	status := sight.Status
	rig.Check(t, status.Cause == agent.Crashed && status.Detail == "signal: killed", "%+v", status)
	rig.Check(t, len(sight.Record.Exits) == 1, "the record shown has no exit: %+v", sight.Record)
}
