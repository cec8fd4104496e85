package campaign

import (
	"os"
	"strconv"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// TestMain gives a long campaign of requests more time.
func TestMain(m *testing.M) {
	requests, _ := strconv.Atoi(os.Getenv("NBS_REQUESTS")) // 0: the standard number
	os.Exit(rig.Main(m, 10*time.Minute+time.Duration(requests)*6*time.Second))
}

// team is a project with the helpers of this package's tests.
type team struct{ *e2e.Team }

func newTeam(t *testing.T, claude string) *team { return &team{e2e.NewTeam(t, claude)} }
func standIn(t *testing.T, misbehaviour ...string) *team {
	return &team{e2e.StandIn(t, misbehaviour...)}
}

// eachVersion is a team on the newest Claude Code, and in make test-all on the oldest.
func eachVersion(t *testing.T) *team { return &team{e2e.EachVersion(t)} }
