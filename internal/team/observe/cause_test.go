package observe

import (
	"testing"
	"time"

	"nbs-worker/internal/agent"

	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
)

// The cause of a death, from the record and the evidence: the process of its tmux server has the recorded
// start, or another one.
func TestCauses(t *testing.T) {
	t.Parallel()
	table := fake.New()
	o := &Project{Machine: table.Machine()}
	self, boot := table.Add(9, fake.Process{}), table.Boot
	there := &agent.TmuxPlace{ServerPID: self.PID, ServerStartTicks: self.StartTicks}
	lost := &agent.TmuxPlace{ServerPID: self.PID, ServerStartTicks: self.StartTicks - 1}
	id := agent.NewInvocation()
	for name, c := range map[string]struct {
		exit     *agent.Exit
		tmux     *agent.TmuxPlace
		rebooted bool
		stopped  bool
		pid      int
		cause    agent.Cause
		detail   string
	}{
		"exited":                    {&agent.Exit{}, there, false, false, 9, agent.Exited, ""},
		"exited at its prompt":      {&agent.Exit{EndReason: "prompt_input_exit"}, there, false, false, 9, agent.Exited, "a person ended it at its prompt"},
		"interrupted":               {&agent.Exit{EndReason: "other"}, there, false, false, 9, agent.Exited, ""},
		"crashed":                   {&agent.Exit{Code: 1}, there, false, false, 9, agent.Crashed, "code 1"},
		"terminated":                {&agent.Exit{Code: 143, EndReason: "other"}, there, false, false, 9, agent.Crashed, "code 143, as after SIGTERM"},
		"terminal closed":           {&agent.Exit{Code: 129, HungUp: true}, there, false, false, 9, agent.Crashed, "its terminal was closed, code 129"},
		"server gone":               {&agent.Exit{Code: 129, HungUp: true}, lost, false, false, 9, agent.LostTmux, ""},
		"server gone, no exit":      {nil, lost, false, false, 9, agent.LostTmux, ""},
		"killed":                    {&agent.Exit{Code: -1, Signal: "killed"}, there, false, false, 9, agent.Crashed, "signal: killed"},
		"killed, server gone later": {&agent.Exit{Code: -1, Signal: "killed"}, lost, false, false, 9, agent.Crashed, "signal: killed"},
		"out of memory": {
			&agent.Exit{Code: -1, Signal: "killed", OOMKills: 1}, there, false, false, 9, agent.OutOfMemory, "signal: killed, probably by the kernel: while it ran, memory ran out and the kernel killed 1 process in its cgroup",
		},
		"a tool out of memory":  {&agent.Exit{Code: 143, OOMKills: 1}, there, false, false, 9, agent.Crashed, "code 143, as after SIGTERM"},
		"launcher killed":       {nil, there, false, false, 9, agent.Crashed, "its launcher was killed, or could not write the record"},
		"noted as crashed":      {&agent.Exit{Code: -1, Cause: agent.Crashed, Detail: "its launcher was killed"}, lost, true, false, 9, agent.Crashed, "its launcher was killed"},
		"noted as shut down":    {&agent.Exit{At: boot.Add(-time.Hour), Code: 143, Cause: agent.LostReboot}, lost, true, false, 9, agent.LostReboot, ""},
		"never":                 {nil, there, false, false, 0, agent.NeverStarted, ""},
		"refused":               {&agent.Exit{Code: 1, Error: "no claude"}, there, false, false, 0, agent.NeverStarted, "no claude"},
		"power cut":             {nil, there, true, false, 9, agent.LostReboot, ""},
		"shutdown":              {&agent.Exit{At: boot, Code: 143}, lost, true, false, 9, agent.LostReboot, "code 143, as after SIGTERM"},
		"crashed before a boot": {&agent.Exit{At: boot, Code: 1}, lost, true, false, 9, agent.Crashed, "code 1"},
		"ended long before it":  {&agent.Exit{At: boot.Add(-time.Hour), Code: 143}, lost, true, false, 9, agent.Crashed, "code 143, as after SIGTERM"},
		"stopped":               {&agent.Exit{Code: 143}, there, false, true, 9, agent.Stopped, ""},
		"stopped, then a boot":  {nil, lost, true, true, 9, agent.Stopped, ""},
	} {
		r := agent.Record{Process: &agent.Process{Invocation: id, Identity: self, Tmux: c.tmux}}
		r.Process.PID = c.pid
		if c.rebooted {
			r.Process.BootID = "another"
		}
		if c.stopped {
			r.Desired = agent.DesiredStopped
		}
		if c.exit != nil {
			c.exit.Invocation = id
			r.AddExit(*c.exit)
		}
		cause, detail := o.deathOf(&r).Why(&r)
		rig.Check(t, cause == c.cause && detail == c.detail, "%s: %s (%s); want %s (%s)", name, cause, detail, c.cause, c.detail)
	}
}
