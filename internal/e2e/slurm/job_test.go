package slurm

import (
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/e2e"
)

// A second copy of a job waits until the first has ended, and goes on in the same conversation.
func TestOneJobOfAnAgentRuns(t *testing.T) {
	c := newCluster(e2e.StandIn(t), never)
	before := c.has("alpha")
	first := c.submit("alpha", "-w", one)
	c.waitQueue(first, "RUNNING "+one)
	c.mustKnow(one, "alpha", before)

	second := c.submit("alpha", "-w", two)
	c.waitQueue(second, "PENDING  Dependency")
	here := c.row("alpha")
	c.Check(here.State == "idle" && here.Job == jobRow{first, "RUNNING", one, ""}, "from here it is %+v", here)
	c.Refused(5, "the agent runs already", "resume", "alpha")
	c.attachTo("alpha", "● 42")

	c.slurm.Run("scancel", first)
	c.waitQueue(second, "RUNNING "+two)
	c.mustKnow(two, "alpha", before)
	c.waitQueue(first, "CANCELLED")

	c.at(two).OK("stop", "alpha")
	c.waitQueue(second, "COMPLETED")
	c.Check(c.Session("alpha").State == "stopped", "%+v", c.Session("alpha"))
	c.MustRemember("alpha", before) // it comes home
}

// What runs in a job goes on when its launcher is killed, and when the controller is.
func TestJobOutlivesKills(t *testing.T) {
	c := newCluster(e2e.StandIn(t), never)
	before := c.has("alpha")
	job := c.submit("alpha", "-w", one)
	c.waitQueue(job, "RUNNING "+one)
	running := c.mustKnow(one, "alpha", before)

	c.Must(c.slurm.Signal(one, c.Launcher("alpha"), unix.SIGKILL))
	again := c.at(one).WaitSession("alpha", "is back", func(s e2e.Session) bool { return s.State == "idle" && s.PID != running.PID })
	c.mustKnow(one, "alpha", before)

	c.slurm.Save(job)
	c.slurm.KillController()
	c.slurm.StartController()
	c.waitQueue(job, "RUNNING "+one)
	now := c.at(one).WaitState("alpha", "idle")
	c.Check(now.PID == again.PID, "%+v, then %+v", again, now)
	c.slurm.Run("scancel", job)
	c.waitQueue(job, "CANCELLED")
}
