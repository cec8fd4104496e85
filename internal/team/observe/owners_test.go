package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// A record that cannot be read may be the one with the conversation.
func TestCheckUnrecordedDoesNotPassOverADamagedRecord(t *testing.T) {
	t.Parallel()
	opened := storeWithLive(t, "zeta", os.Getpid())
	o := &Project{Machine: local.New(), Store: opened, Now: time.Now}
	recorded, err := opened.Load("zeta")
	rig.Must(t, err)
	other := agent.Record{Spec: agent.Spec{SessionID: agent.NewSessionID()}}
	rig.Must(t, o.CheckUnrecorded(&other))
	damaged := filepath.Join(opened.Folder(), "sessions", "beta.json")
	rig.Must(t, os.WriteFile(damaged, []byte("{"), 0o600))
	err = o.CheckUnrecorded(&other)
	said := fmt.Sprint(err, fail.HintsOf(err))
	rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(said, damaged), "%s; want an error that names %s", said, damaged)
	err = o.CheckUnrecorded(&recorded)
	rig.Check(t, fail.KindOf(err) == fail.Conflict && strings.Contains(err.Error(), "zeta"), "beside a damaged one: %v; want a conflict that names zeta", err)
}
