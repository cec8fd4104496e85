package slurm

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/e2e"
)

// Three agents of the real Claude Code are jobs, each with a second copy that waits. Whatever ends a job, a launcher, the
// controller or a node, each goes on in its conversation, and none runs twice.
func TestThreeRealAgents(t *testing.T) {
	c := newCluster(e2e.Real(t), lost)
	agents := []string{"gamma", "alpha", "beta"}
	before, first, second := map[string]e2e.Session{}, map[string]string{}, map[string]string{}
	for _, handle := range agents {
		before[handle] = c.has(handle)
	}
	c.neverTwice(before)
	first["gamma"] = c.submit("gamma")
	one, two := c.nodesFrom(first["gamma"]) // gamma's node is lost later
	for _, handle := range agents {
		if handle != "gamma" {
			first[handle] = c.submit(handle, "-w", two)
		}
		c.waitQueue(first[handle], "RUNNING")
		second[handle] = c.submit(handle, "-w", two)
		c.waitQueue(second[handle], "PENDING  Dependency")
	}
	c.mustKnow(one, "gamma", before["gamma"])

	c.slurm.Run("scancel", first["alpha"])
	c.waitQueue(second["alpha"], "RUNNING "+two)
	c.mustKnow(two, "alpha", before["alpha"])

	running := c.at(two).Session("beta")
	c.Must(c.slurm.Signal(two, c.Launcher("beta"), unix.SIGKILL))
	again := c.at(two).WaitSession("beta", "is back", func(s e2e.Session) bool { return s.State == "idle" && s.PID != running.PID })
	c.mustKnow(two, "beta", before["beta"])

	c.slurm.Save(first["beta"])
	c.slurm.KillController()
	c.slurm.StartController()
	c.waitQueue(first["beta"], "RUNNING "+two)
	c.Check(c.mustKnow(two, "beta", before["beta"]).PID == again.PID, "beta was started again")

	c.slurm.Lose(one)
	c.waitQueue(first["gamma"], "RUNNING "+two)
	c.mustKnow(two, "gamma", before["gamma"])

	for _, handle := range []string{"beta", "gamma"} {
		is := c.queue(second[handle])
		c.Check(strings.HasPrefix(is, "PENDING  Dependency"), "the second copy of %s is %s", handle, is)
	}
	c.OK("stop", "--all") // also the copies that wait
	for _, handle := range agents {
		row := c.row(handle)
		c.Check(row.State == "stopped" && row.SessionID == before[handle].SessionID && row.Job == jobRow{}, "%+v", row)
	}
}
