package recover

import (
	"syscall"
	"testing"
)

// What is changed in a record of an agent, and when it counts.

// What is set of an agent that runs is shown as drift, and counts from its next start on; its restart
// policy at once.
func TestSetCountsFromTheNextStartOn(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	out := m.OK("set", "alpha", "model=opus", "permission-mode=acceptEdits", "restart=on-failure", "--json")
	m.MustSay(out, `{"field":"model","from":"sonnet","to":"opus","takes_effect":"next start"}`, `{"field":"restart","from":"no","to":"on-failure","takes_effect":"now"}`)
	m.MustBeLeftAlone("alpha", before)
	m.Check(len(m.Session("alpha").Drift) == 2, "%+v", m.Session("alpha").Drift)
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	after := m.waitBack(before)
	m.Check(after.Model == "opus" && after.PermissionMode == "acceptEdits" && len(after.Drift) == 0 && after.SessionID == before.SessionID, "%+v", after)
	m.OK("set", "alpha", "restart=no")
	m.Kill(after.RecordedPID, syscall.SIGKILL)
	m.mustHaveDied("alpha", "crashed", "signal: killed")
}
