package slurm

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// Many agents are jobs at a time: ten, or as many as NBS_SLURM_AGENTS says. Each runs once, in its own conversation. One
// list shows them all, with their nodes, and one stop ends them all.
func TestManyJobs(t *testing.T) {
	c := newCluster(e2e.StandIn(t), never)
	count := 10
	if text := os.Getenv("NBS_SLURM_AGENTS"); text != "" {
		var err error
		count, err = strconv.Atoi(text)
		c.Must(err)
	}
	before := map[string]e2e.Session{}
	began := time.Now()
	done := func(what string) {
		t.Logf("%d agents %s after %.1f s", count, what, time.Since(began).Seconds())
		began = time.Now()
	}
	for i := range count {
		handle := fmt.Sprintf("agent%d", i)
		c.OK("spawn", handle)
		before[handle] = c.Session(handle)
	}
	c.OK("stop", "--all")
	done("were made")
	for handle := range before {
		c.submit(handle)
	}
	done("were submitted")
	c.WaitFor("each agent is idle on a node", func() (bool, string) {
		idle, on := 0, map[string]int{}
		for _, r := range c.rows() {
			if r.State == "idle" && r.SessionID == before[r.Handle].SessionID && r.Job.State == "RUNNING" {
				idle++
				on[r.Job.Node]++
			}
		}
		return idle == count, fmt.Sprint(idle, on)
	})
	done("were idle")
	c.rows()
	done("were listed")
	for handle, s := range before {
		c.Check(len(e2e.ClaudesOn(s.SessionID)) == 1, "%s runs %v", handle, e2e.ClaudesOn(s.SessionID))
	}
	began = time.Now()
	c.OK("stop", "--all")
	done("were stopped")
	for _, r := range c.rows() {
		c.Check(r.SessionID == before[r.Handle].SessionID && r.State == "stopped" && r.Job == jobRow{}, "%+v", r)
		c.Check(len(e2e.ClaudesOn(r.SessionID)) == 0, "%s still runs", r.Handle)
	}
}
