package hosts

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// One list shows all agents of three hosts, and a fourth that is down costs nothing but its line. NBS_HOST_AGENTS is how
// many agents there are; what the list takes is logged.
func TestListOfManyAgents(t *testing.T) {
	f := standIn(t, "build1", "build2", "build3", "build4")
	agents := e2e.Number(t, "NBS_HOST_AGENTS", 9)
	f.hosts["build4"].machine.Stop()
	var starts sync.WaitGroup
	for i := range 3 {
		starts.Go(func() {
			h := f.hosts[fmt.Sprintf("build%d", i+1)]
			for n := i; n < agents; n += 3 {
				r := h.NBS("spawn", fmt.Sprintf("agent%d", n))
				f.Check(r.Code == 0, "spawn at %s: %s", h.machine.Name, r)
			}
		})
	}
	starts.Wait()
	took := func(what func()) time.Duration {
		begun := time.Now()
		what()
		return time.Since(begun).Round(time.Millisecond)
	}
	var slowest time.Duration
	for i := range 3 {
		slowest = max(slowest, took(func() { f.hosts[fmt.Sprintf("build%d", i+1)].OK("list") }))
	}
	connection := took(func() { f.ssh("build1", "true") })
	var r e2e.Result
	all := took(func() { r = f.NBS("list", "--hosts") })
	t.Logf("%d agents: the slowest host lists its own in %s, ssh takes %s, list --hosts %s", agents, slowest, connection, all)
	rig.Equal(f, strings.Count(r.Stdout, "\tagent"), agents, "rows of agents")
	f.Check(r.Code == 7 && strings.Count(r.Stderr, "unreachable") == 1, "list --hosts: %s", r)
	f.MustSay(r.Stderr, "build4 is unreachable: it refuses connections")
}
