package observe

import (
	"os"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(fake.OnEach(m), play)) }

// play is a command that works on an agent: a project, a handle, a verb.
func play(role []string) {
	opened, err := store.Open(role[0])
	storetest.Must(err)
	_, err = opened.LockVerb(agent.Handle(role[1]), role[2], time.Now())
	storetest.Must(err)
	rig.Stay()
}
