package slurm

import (
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// The verbs of a user who sits at the machine from which jobs are submitted.
func TestJobFromOutside(t *testing.T) {
	c := newCluster(e2e.StandIn(t), never)
	before := c.has("alpha")
	waits := func(r row) bool { return r.State == "backoff" && r.Job.State != "RUNNING" && r.Job.Node == "" }
	job := c.submit("alpha", "-w", one, "--hold")
	held := c.waitRow("alpha", "waits in the queue", waits)
	c.Check(held.Job.ID == job && held.Job.Reason == "JobHeldUser", "%+v", held)
	c.Refused(5, "Slurm will start the agent: job "+job+" PENDING", "resume", "alpha")
	c.slurm.Run("scontrol", "release", job)
	c.waitQueue(job, "RUNNING "+one)
	c.mustKnow(one, "alpha", before)

	// It is stopped in order, by its own launcher.
	c.OK("stop", "alpha")
	c.waitQueue(job, "CANCELLED")
	stopped := c.row("alpha")
	c.Check(stopped.State == "stopped" && stopped.Desired == "stopped", "%+v", stopped)

	// A job that waits begins by itself. stop takes it out of the queue.
	again := c.submit("alpha", "-w", one, "--hold")
	c.waitRow("alpha", "waits in the queue", waits)
	refused := c.OnTerminal("attach", "alpha")
	c.Check(refused.Code == 2 && strings.Contains(refused.Stderr, "squeue --start -j "+again), "attach: %v", refused)
	c.slurm.Run("scontrol", "release", again)
	c.waitQueue(again, "RUNNING "+one)
	c.mustKnow(one, "alpha", before)
	c.slurm.Run("scontrol", "requeuehold", again)
	c.waitRow("alpha", "is back in the queue", waits)
	c.OK("stop", "alpha")
	c.waitQueue(again, "CANCELLED")
	c.Check(c.row("alpha").State == "stopped", "%+v", c.row("alpha"))

	// A controller that is off makes nothing dead.
	third := c.submit("alpha", "-w", one)
	c.mustKnow(one, "alpha", before)
	c.slurm.Save(third)
	c.slurm.KillController()
	away := c.row("alpha")
	c.Check(away.State == "unknown" && away.Job.State == "unreachable", "%+v", away)
	c.Refused(6, "nothing was changed", "stop", "alpha")
	c.slurm.StartController()
	c.waitRow("alpha", "is seen again", func(r row) bool { return r.State == "idle" && r.Job.Node == one })
	c.OK("dismiss", "alpha", "--keep")
	c.waitQueue(third, "CANCELLED")
	c.Refused(2, "alpha", "session", "alpha")
}
