package main

import (
	"strings"
	"syscall"
	"testing"
)

// What is changed in a record of an agent, and when it counts.

// What is set of an agent that runs is shown as drift, and counts from its next start on; its restart
// policy at once.
func TestSetCountsFromTheNextStartOn(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	out := m.ok("set", "alpha", "model=opus", "permission-mode=acceptEdits", "restart=on-failure", "--json")
	m.mustSay(out, `{"field":"model","from":"sonnet","to":"opus","takes_effect":"next start"}`, `{"field":"restart","from":"no","to":"on-failure","takes_effect":"now"}`)
	m.mustBeLeftAlone("alpha", before)
	m.check(len(m.session("alpha").Drift) == 2, "%+v", m.session("alpha").Drift)
	m.kill(before.RecordedPID, syscall.SIGKILL)
	after := m.waitBack(before)
	m.check(after.Model == "opus" && after.PermissionMode == "acceptEdits" && len(after.Drift) == 0 && after.SessionID == before.SessionID, "%+v", after)
	m.ok("set", "alpha", "restart=no")
	m.kill(after.RecordedPID, syscall.SIGKILL)
	m.mustHaveDied("alpha", "crashed", "signal: killed")
}

// A policy that is taken back while the launcher waits keeps the agent down; reset forgets failures.
func TestSetAndResetWhileItsLauncherWaits(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--restart", "on-failure")
	m.fail(3)
	m.waitBackoff()
	m.mustSay(m.ok("reset", "alpha", "--json"), `{"handle":"alpha","failures":3,"held":null}`)
	m.check(m.waitBackoff().Restart.Failures == 0, "%+v", m.restartOf("alpha"))
	m.ok("set", "alpha", "restart=no")
	m.mustHaveDied("alpha", "crashed", "signal: killed")
	m.waitDead(m.launcher("alpha"))
	m.mustHaveDied("alpha", "crashed", "signal: killed")
}

// However long the launcher would have waited, it leaves at once.
func TestSetEndsALongWait(t *testing.T) {
	m := standIn(t)
	m.limited()
	launcher := m.launcher("alpha")
	m.ok("set", "alpha", "restart=no")
	m.mustHaveDied("alpha", "crashed", "code 1")
	m.waitDead(launcher)
	m.mustHaveDied("alpha", "crashed", "code 1")
}

func TestSetRefuses(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	text := m.recordText("alpha")
	for words, cause := range map[string]string{
		"model=opus restart=sometimes": `restart policy "sometimes" is not one of no, on-failure, on-abnormal, always`,
		"colour=red":                   `"colour=red" is not one of model=VALUE`,
		"model=a model=b":              "model is given twice",
	} {
		m.refused(4, cause, append([]string{"set", "alpha"}, strings.Fields(words)...)...)
	}
	m.refused(4, "what is to be changed?", "set", "alpha")
	m.check(m.recordText("alpha") == text, "the record was changed")
	m.plant("alpha", map[string]any{"model": "opus"})
	m.refused(8, "the record is not allowed", "set", "alpha", "restart=always")
}
