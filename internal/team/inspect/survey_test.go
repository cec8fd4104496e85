package inspect

import (
	"os"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/observe"
)

// A survey reads nothing for a record that was removed during the look: its conversation may belong to another agent
// now.
func TestSurveyLeavesALostRecordAlone(t *testing.T) {
	t.Parallel()
	dir, id := t.TempDir(), agent.NewSessionID()
	config, err := claude.ConfigAt(dir)
	rig.Must(t, err)
	path, err := config.RestorePath(id, "-srv-project", "")
	rig.Must(t, err)
	rig.Must(t, os.WriteFile(path, nil, 0o600))
	for _, lost := range []bool{false, true} {
		view := View{Sight: observe.Sight{
			Record: agent.Record{Spec: agent.Spec{Handle: "alpha", SessionID: id, ConfigDir: dir}},
			Lost:   lost, Status: agent.Status{State: agent.Unknown},
		}}
		(New(&observe.Project{Machine: local.New()})).examine(&view)
		rig.Check(t, (view.Transcript == nil) == lost && view.Err == nil, "lost %t: %+v", lost, view)
	}
}
