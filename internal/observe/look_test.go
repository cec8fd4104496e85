package observe

import (
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
)

// Between the reading of a record and the look at its processes the launcher may write
// the exit down and leave. Whoever looks then must not take it for killed.
func TestExitThatIsRecordedWhileWeLook(t *testing.T) {
	t.Parallel()
	opened, err := store.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	use(t, opened)
	defer opened.Close()
	if _, err := opened.LockVerb("alpha", "spawn", time.Now()); err != nil {
		t.Fatal(err)
	}
	gone, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	gone.StartTicks, gone.PidfdInode = gone.StartTicks-1, 0 // as that of an earlier process with this pid
	seen := agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: opened.Project(),
		},
		PID: gone.PID, Process: &agent.Process{Invocation: agent.NewInvocation(), Identity: gone, Launcher: gone.Identified},
	}
	if err := opened.Insert(t.Context(), seen); err != nil {
		t.Fatal(err)
	}
	_, err = opened.Update(t.Context(), "alpha", func(r *agent.Record) error {
		r.AddExit(agent.Exit{Invocation: r.Process.Invocation, Code: -1, Signal: "killed"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	o := &Observer{Store: opened, Now: time.Now}
	sight := o.LookAt(t.Context(), seen)
	if status := sight.Status; status.Cause != agent.Crashed || status.Detail != "signal: killed" {
		t.Errorf("%+v", status)
	}
	if len(sight.Record.Exits) != 1 {
		t.Errorf("the record shown has no exit: %+v", sight.Record)
	}
}
