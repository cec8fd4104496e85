package dash

import (
	"os"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, 10*time.Minute)) }

// team is a project with the helpers of this package's tests.
type team struct{ *e2e.Team }

func standIn(t *testing.T, directives ...string) *team { return &team{e2e.StandIn(t, directives...)} }
