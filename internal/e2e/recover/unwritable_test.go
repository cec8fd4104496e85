package recover

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A folder that can only be read is called that, and not a file system without locks.
func TestDoctorOnAReadOnlyProject(t *testing.T) {
	m := standIn(t)
	mounts := rig.PrivateMounts(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	mounts.ReadOnly(m.InNbs())
	r := m.Refused(1, "", "doctor")
	m.Check(strings.Contains(r.Stdout, "read-only file system") && !strings.Contains(r.Stdout, "locks do not work"), "%v", r)
}
