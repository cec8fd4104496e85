package hosts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// One list has the agents of all hosts, and a row for the host that is off. With NBS_HOST_AGENTS=100 it logs what that
// costs, beside the list of the slowest host.
func TestOneListOfThreeHosts(t *testing.T) {
	const dead = "build4"
	f := standIn(t, "build1", "build2", "build3", dead)
	agents, err := strconv.Atoi(cmp.Or(os.Getenv("NBS_HOST_AGENTS"), "6"))
	rig.Must(t, err)
	var starts sync.WaitGroup
	for _, name := range []string{"build1", "build2", "build3"} {
		starts.Go(func() {
			for i := range agents / 3 {
				f.OK("spawn", fmt.Sprintf("agent%d@%s", i, name))
			}
		})
	}
	starts.Wait()
	f.hosts[dead].machine.Stop()

	var r e2e.Result
	ours := timed(func() { r = f.NBS("list", "--hosts", "--json") })
	var slowest time.Duration
	for _, name := range []string{"build1", "build2", "build3"} {
		slowest = max(slowest, timed(func() { f.ssh(name, "nbs-worker list --json") }))
	}
	trip := timed(func() { f.ssh("build1", "true") })
	t.Logf("%d agents: list --hosts %s; the slowest host's own list by ssh %s; a connection %s", agents, ours, slowest, trip)

	f.Check(r.Code == 7, "%s", r)
	var all wire.AtHosts
	f.Must(json.Unmarshal([]byte(r.Stdout), &all))
	listed := 0
	for _, h := range all.Hosts {
		f.Check(h.Unreachable == (h.Host == dead), "%+v", h)
		if !h.Unreachable {
			var rows []wire.Agent
			f.Must(json.Unmarshal(h.Result, &rows))
			listed += len(rows)
		}
	}
	rig.Equal(t, listed, agents/3*3, "rows")
}

// timed returns how long a call takes.
func timed(call func()) time.Duration {
	began := time.Now()
	call()
	return time.Since(began)
}
