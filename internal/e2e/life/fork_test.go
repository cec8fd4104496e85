package life

import (
	"testing"
)

// A fork knows what was said, under an id of its own, and the first agent is not disturbed.
func TestFork(t *testing.T) {
	m := eachVersion(t)
	alpha := m.Remembers("alpha")
	m.OK("fork", "alpha", "beta") // nothing is sent to it
	beta := m.WaitState("beta", "idle")
	m.Check(beta.SessionID != alpha.SessionID && beta.Model == alpha.Model && beta.PermissionMode == alpha.PermissionMode, "alpha %+v\nbeta %+v", alpha, beta)
	m.Check(m.Session("alpha").PID == alpha.PID, "alpha was started again")
	m.MustRemember("beta", beta, "--force") // also when it ended before its first turn
	m.TypeLine(m.WaitState("beta", "idle"), "Remember 43.")
	m.MustAnswer("beta", "OK, I will remember 43.")
	m.TypeLine(m.WaitState("alpha", "idle"), "What number?")
	m.MustAnswer("alpha", "42")
	m.OK("stop", "alpha")
	m.OK("fork", "alpha", "gamma", "--prompt", "What number?")
	m.MustAnswer("gamma", "42")
	m.OK("dismiss", "alpha")
	m.OK("resume", "beta", "--force", "--prompt", "What number?")
	m.MustAnswer("beta", "43")
	m.Refused(5, "the handle is taken", "fork", "beta", "gamma")
}
