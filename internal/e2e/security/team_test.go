package security

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

func real(t *testing.T) *team { return &team{e2e.Real(t)} }
func standIn(t *testing.T, misbehaviour ...string) *team {
	return &team{e2e.StandIn(t, misbehaviour...)}
}

// bystander spawns an agent of which no claude is asked for anything: on the stand-in, whatever the others run on.
func (m *team) bystander(handle string) {
	m.Helper()
	r := m.NBSWith([]string{"NBS_CLAUDE=" + rig.StandIn(m)}, "spawn", handle)
	m.Check(r.Code == 0, "%s", r)
}

// eachVersion is a team on the newest Claude Code, and in make test-all on the oldest.
func eachVersion(t *testing.T) *team { return &team{e2e.EachVersion(t)} }
