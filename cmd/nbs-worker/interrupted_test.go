package main

import (
	"syscall"
	"testing"
	"time"
)

// Who insists does not wait: the second Ctrl-C ends a verb that goes on after the first, and what
// it has written is whole.
func TestSecondInterruptEndsTheVerb(t *testing.T) {
	m := standIn(t, "refuse-term")
	m.ok("spawn", "alpha")
	stop := m.begin("stop", "alpha") // which gives claude seconds to leave
	m.waitFor("it is written down", func() (bool, string) {
		s := m.session("alpha")
		return s.Desired == "stopped", s.Desired
	})
	m.kill(stop.Process.Pid, syscall.SIGINT)
	begun := time.Now()
	m.waitFor("the verb has ended", func() (bool, string) {
		if !dead(stop.Process.Pid) {
			_ = stop.Process.Signal(syscall.SIGINT)
		}
		return dead(stop.Process.Pid), ""
	})
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
	if status := stop.end(); status.code != -1 {
		t.Error(status)
	}
	m.ok("stop", "alpha")
	m.ok("resume", "alpha")
}

// Who does not wait for a start does not end it.
func TestResumeThatIsWaitedForBriefly(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	for _, patience := range []string{"1ms", "5ms", "10ms", "20ms", "50ms"} {
		r := m.nbs("resume", "alpha", "--force", "--timeout", patience)
		if r.code != 0 {
			m.mustRefuse(r, 3, "")
		}
		if s := m.waitState("alpha", "idle"); s.SessionID != before.SessionID || !s.Running {
			t.Errorf("after %s: %+v", patience, s)
		}
	}
	m.ok("stop", "alpha")
	m.mustRemember("alpha", before)
}
