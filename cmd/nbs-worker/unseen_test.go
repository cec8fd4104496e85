package main

import (
	"strings"
	"syscall"
	"testing"
)

// Of an end that nobody saw there is no code and no uptime, and it says nothing of how long the
// agent lived: three of them are no crash loop.
func TestExitThatNobodySaw(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.keepServer()
	for range 3 {
		s := m.waitState("alpha", "idle")
		launcher := m.launcher("alpha")
		m.kill(launcher, syscall.SIGKILL)
		m.waitDead(launcher)
		m.waitDead(s.RecordedPID)
		m.waitState("alpha", "crashed")
		text := m.ok("session", "alpha", "--json")
		_, exit, _ := strings.Cut(text, `"last_exit":`)
		if !strings.Contains(exit, `"code":null`) || !strings.Contains(exit, `"uptime_s":null`) {
			t.Errorf("%s", text)
		}
		m.endOf("alpha").mustAdvise(m, bringBack)
		m.ok("resume", "alpha")
	}
}
