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
// many agents there are. What the list takes is logged, beside the lists and the connections of the hosts, each at once.
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
	atOnce := func(what func(h *host)) time.Duration {
		return took(func() {
			var all sync.WaitGroup
			for i := range 3 {
				all.Go(func() { what(f.hosts[fmt.Sprintf("build%d", i+1)]) })
			}
			all.Wait()
		})
	}
	lists := atOnce(func(h *host) { f.Check(h.NBS("list").Code == 0, "list at %s failed", h.machine.Name) })
	connections := atOnce(func(h *host) { f.ssh(h.machine.Name, "true") })
	var r e2e.Result
	all := took(func() { r = f.NBS("list", "--hosts") })
	t.Logf("%d agents: the hosts list their own in %s, ssh to each takes %s, list --hosts %s", agents, lists, connections, all)
	rig.Equal(f, strings.Count(r.Stdout, "\tagent"), agents, "rows of agents")
	f.Check(r.Code == 7 && strings.Count(r.Stderr, "unreachable") == 1, "list --hosts: %s", r)
	f.MustSay(r.Stderr, "build4 is unreachable: it refuses connections")
}
