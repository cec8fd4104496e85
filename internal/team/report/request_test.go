package report

import (
	"fmt"
	"os"
	"testing"
	"time"

	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/requests"
)

// Each test runs on a machine like Linux and on one like macOS.
func TestMain(m *testing.M) { os.Exit(rig.Tight(fake.OnEach(m))) }

// With the end of the turn, each of its requests is over, also several that were answered in the terminal without running
// a tool. What the registry says from before the request counts for nothing.
func TestRequestsAreOverWithTheirTurn(t *testing.T) {
	t.Parallel()
	dir, table := rig.MemoryDir(t), fake.New()
	asking := table.Add(10, fake.Process{Args: []string{"claude"}})
	registry, drawer, at := live.RegistryIn(dir), requests.In(private.Tree(dir+"/requests")), time.Now()
	rig.Must(t, os.Mkdir(registry.Dir(), 0o700))
	var all []*beside
	for range 2 {
		w, err := drawer.Open(requests.Request{Handle: "alpha", Invocation: next, Claude: asking, At: at, Tool: "Bash"})
		rig.Must(t, err)
		defer w.Close()
		all = append(all, &beside{Waiting: w, machine: table.Machine(), registry: registry, registered: true})
	}
	for _, c := range []struct {
		status string
		since  time.Duration
		over   bool
	}{{"idle", -time.Second, false}, {"busy", 0, false}, {"waiting", time.Second, false}, {"busy", time.Minute, false}, {"idle", 2 * time.Minute, true}} {
		since := at.Add(c.since).UnixMilli()
		entry := fmt.Sprintf(`{"pid":10,"procStart":%q,"status":%q,"statusUpdatedAt":%d,"updatedAt":%d}`, table.Registered(asking), c.status, since, since)
		rig.Must(t, os.WriteFile(registry.Path(10), []byte(entry), 0o600))
		for i, b := range all {
			over, again := b.isOver(at)
			rig.Check(t, !over && (again > 0) == c.over, "request %d, %s: over %t, again after %s", i, c.status, over, again)
			over, _ = b.isOver(at.Add(live.DialogGrace))
			rig.Equal(t, over, c.over, "request %d, %s", i, c.status)
		}
	}
}
