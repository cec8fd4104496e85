package observe

import (
	"os"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/store"

	"nbs-worker/internal/sim/rig"
)

// Between the read of a record and the look at its processes the launcher may record the exit and end. The look must
// not take it for killed.
func TestExitThatIsRecordedWhileWeLook(t *testing.T) {
	t.Parallel()
	opened, err := store.Create(rig.MemoryDir(t))
	rig.Must(t, err)
	use(t, opened)
	defer opened.Close()
	if _, err := opened.LockVerb("alpha", "spawn", time.Now()); err != nil {
		t.Fatal(err)
	}
	gone, err := local.New().Self()
	rig.Must(t, err)
	gone.StartTicks-- // as that of an earlier process with this pid
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
	o := &Project{Machine: local.New(), Store: opened, Now: time.Now}
	sight := o.LookAt(t.Context(), seen)
	status := sight.Status
	rig.Check(t, status.Cause == agent.Crashed && status.Detail == "signal: killed", "%+v", status)
	rig.Check(t, len(sight.Record.Exits) == 1, "the record shown has no exit: %+v", sight.Record)
}

// An agent that was dismissed during the look is shown by its last record, which counts as lost.
func TestLookAtAnAgentThatWentMeanwhile(t *testing.T) {
	t.Parallel()
	opened := storeWithLive(t, "alpha", os.Getpid())
	r, err := opened.Load("alpha")
	rig.Must(t, err)
	r.Handle, r.Process.StartTicks = "beta", r.Process.StartTicks-1
	sight := (&Project{Machine: local.New(), Store: opened, Now: time.Now}).LookAt(t.Context(), r)
	rig.Check(t, sight.Lost && sight.Record.Handle == "beta" && fail.KindOf(sight.Err) == fail.NotFound && sight.Status.State == agent.Unknown, "%+v", sight)
}

// tmux is asked while the processes are read. If the two answers do not fit together, tmux is asked again.
func TestAnswersOfTwoMoments(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		pid      int
		inTmux   bool
		evidence Evidence
		fits     bool
	}{
		"runs in its pane":                     {1, true, Evidence{Claude: machine.Alive, Pane: PaneThere}, true},
		"has ended with its pane":              {1, true, Evidence{Claude: machine.Gone, Pane: PaneAbsent}, true},
		"its launcher waits in its pane":       {1, true, Evidence{Claude: machine.Gone, LauncherLives: true, Pane: PaneThere}, true},
		"tmux did not answer":                  {1, true, Evidence{Claude: machine.Alive, Pane: PaneUnknown}, true},
		"in no tmux":                           {1, false, Evidence{Claude: machine.Alive}, true},
		"has come since tmux answered":         {1, true, Evidence{Claude: machine.Alive, Pane: PaneAbsent}, false},
		"has gone since tmux answered":         {1, true, Evidence{Claude: machine.Gone, Pane: PaneThere}, false},
		"is on its way, and its pane may come": {0, true, Evidence{Claude: machine.Gone, Pane: PaneAbsent}, false},
		"is in a server that was not asked":    {1, true, Evidence{Claude: machine.Alive}, false},
	} {
		a := subject{record: agent.Record{PID: c.pid, Process: &agent.Process{}}, evidence: c.evidence}
		if c.inTmux {
			a.record.Process.Tmux = new(agent.TmuxPlace)
		}
		rig.Check(t, a.isOfOneMoment() == c.fits, "%s: of one moment: %t; want %t", what, !c.fits, c.fits)
	}
}
