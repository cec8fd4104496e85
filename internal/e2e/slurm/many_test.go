package slurm

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"nbs-worker/internal/e2e"
)

// Many agents are jobs at a time: ten, or as many as NBS_SLURM_AGENTS says. Each runs once, in its own conversation.
func TestManyJobs(t *testing.T) {
	c := newCluster(e2e.StandIn(t), never)
	count := 10
	if text := os.Getenv("NBS_SLURM_AGENTS"); text != "" {
		var err error
		count, err = strconv.Atoi(text)
		c.Must(err)
	}
	ids := map[string]string{}
	var jobs []string
	for i := range count {
		handle := fmt.Sprintf("agent%d", i)
		c.OK("spawn", handle)
		ids[handle] = c.Session(handle).SessionID
		c.OK("stop", handle)
		jobs = append(jobs, c.submit(handle))
	}
	c.WaitFor("each agent is idle on one node", func() (bool, string) {
		idle := map[string]int{}
		for _, node := range []string{one, two} {
			var rows []struct {
				Handle, State string
				SessionID     string `json:"session_id"`
			}
			c.at(node).Decode(&rows, "list", "--json")
			for _, row := range rows {
				if row.State == "idle" && row.SessionID == ids[row.Handle] {
					idle[row.Handle]++
				}
			}
		}
		for _, n := range idle {
			c.Check(n == 1, "an agent runs on both nodes: %v", idle)
		}
		return len(idle) == count, fmt.Sprint(idle)
	})
	c.slurm.Run("scancel", jobs...)
	for _, job := range jobs {
		c.waitQueue(job, "CANCELLED")
	}
	for handle, id := range ids {
		s := c.Session(handle)
		c.Check(s.SessionID == id && s.State == "stopped", "%+v", s)
	}
}
