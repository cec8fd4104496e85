package slurm

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// A node that is gone with all that ran there: the job begins again on the other one, in the same conversation.
func TestLostNode(t *testing.T) {
	goesOnElsewhere(newCluster(e2e.StandIn(t), lost))
}

// The same with the real Claude Code, which hears on one node what it was told on another.
func TestLostNodeOfARealAgent(t *testing.T) {
	goesOnElsewhere(newCluster(e2e.Real(t), lost))
}

// lost is how long a node may be silent.
const lost = 20 * time.Second

func goesOnElsewhere(c *cluster) {
	before := c.has("alpha")
	job := c.submit("alpha")
	first, other := c.nodesFrom(job)
	c.mustKnow(first, "alpha", before)
	c.slurm.Lose(first)
	c.waitQueue(job, "RUNNING "+other)
	c.mustKnow(other, "alpha", before)
	s := c.at(other).Session("alpha")
	c.Check(s.SessionID == before.SessionID, "%+v", s)
	c.Check(strings.Contains(c.OK("events", "alpha"), "its job has begun again; it ran on host "+first), "%s", c.OK("events", "alpha"))
	c.slurm.Run("scancel", job)
	c.waitQueue(job, "CANCELLED")
}

// Before a time limit the agent is stopped in order, and goes on in the next turn of the job.
func TestTimeLimit(t *testing.T) {
	c := newCluster(e2e.StandIn(t), never)
	before := c.has("alpha")
	job := c.submit("alpha", "-w", one, "--time", "1")
	c.WaitFor("the job has begun again", func() (bool, string) {
		info := c.slurm.Run("scontrol", "show", "job", job)
		return strings.Contains(info, "JobState=RUNNING") && strings.Contains(info, "Restarts=1"), info
	})
	c.mustKnow(one, "alpha", before)
	c.slurm.Run("scancel", job)
	c.waitQueue(job, "CANCELLED")
}
