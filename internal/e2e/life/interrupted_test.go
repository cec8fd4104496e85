package life

import (
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// Who insists does not wait: the second Ctrl-C ends a verb that goes on after the first, and what
// it has written is whole.
func TestSecondInterruptEndsTheVerb(t *testing.T) {
	m := standIn(t, "refuse-term")
	m.OK("spawn", "alpha")
	stop := m.Begin("stop", "alpha")                        // which gives claude seconds to leave
	m.WaitFor("it is written down", func() (bool, string) { // read here: a command may take as long as stop
		return m.Record("alpha")["desired"] == "stopped", m.RecordText("alpha")
	})
	m.Kill(stop.Process.Pid, syscall.SIGINT)
	m.WaitFor("the verb has ended", func() (bool, string) {
		if !e2e.Dead(stop.Process.Pid) {
			_ = stop.Process.Signal(syscall.SIGINT)
		}
		return e2e.Dead(stop.Process.Pid), ""
	})
	if status := stop.End(); status.Code != -1 { // a verb that waits to the end has a code
		t.Error(status)
	}
	m.OK("stop", "alpha")
	m.OK("resume", "alpha")
}

// Who interrupts the end of an agent once does not leave it half ended: what has begun is completed.
func TestInterruptedEndIsCompleted(t *testing.T) {
	m := standIn(t, "refuse-term")
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		m.OK("spawn", "alpha")
		dismiss := m.Begin("dismiss", "alpha") // which gives claude seconds to leave
		m.WaitFor("it is written down", func() (bool, string) {
			return m.Record("alpha")["desired"] == "stopped", m.RecordText("alpha")
		})
		m.Kill(dismiss.Process.Pid, signal)
		r := dismiss.End()
		m.Check(r.Code == 0, "after %s: %s", signal, r)
		m.MustRefuse(m.NBS("session", "alpha"), 2, "alpha")
	}
}

// Who does not wait for a start does not end it.
func TestResumeThatIsWaitedForBriefly(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	for _, patience := range []string{"1ms", "20ms"} {
		r := m.NBS("resume", "alpha", "--force", "--timeout", patience)
		if r.Code != 0 {
			m.MustRefuse(r, 3, "")
		}
		if s := m.WaitState("alpha", "idle"); s.SessionID != before.SessionID || !s.Running {
			t.Errorf("after %s: %+v", patience, s)
		}
	}
	m.OK("stop", "alpha")
	m.MustRemember("alpha", before)
}
