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

// A policy that is taken back while the launcher waits keeps the agent down; reset forgets failures.
func TestSetAndResetWhileItsLauncherWaits(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--restart", "on-failure")
	m.fail(3)
	m.waitBackoff()
	m.MustSay(m.OK("reset", "alpha", "--json"), `{"handle":"alpha","failures":3,"held":null}`)
	m.Check(m.waitBackoff().Restart.Failures == 0, "%+v", m.restartOf("alpha"))
	m.OK("set", "alpha", "restart=no")
	m.mustHaveDied("alpha", "crashed", "signal: killed")
	m.WaitDead(m.Launcher("alpha"))
	m.mustHaveDied("alpha", "crashed", "signal: killed")
}

// However long the launcher would have waited, it leaves at once.
func TestSetEndsALongWait(t *testing.T) {
	m := standIn(t)
	m.limited()
	launcher := m.Launcher("alpha")
	m.OK("set", "alpha", "restart=no")
	m.mustHaveDied("alpha", "crashed", "code 1")
	m.WaitDead(launcher)
	m.mustHaveDied("alpha", "crashed", "code 1")
}
