package security

import (
	"testing"

	"nbs-worker/internal/e2e"
)

// Another machine's record is not to be judged. The way out is the one that the hints name.
func TestRecordOfAnotherMachine(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--prompt", "Remember 42.")
	m.OK("stop", "alpha")
	m.SetRecord("alpha", func(fields map[string]any) {
		e2e.Process(fields)["host"], e2e.Process(fields)["boot_id"] = "elsewhere", "11111111-2222-4333-8444-555555555555"
	})
	m.forgetExits("alpha")
	s := m.Session("alpha")
	m.Check(s.State == "unknown", "%+v", s)
	id := m.Record("alpha")["session_id"]
	m.pasteHints(m.Refused(5, "cannot determine whether the agent runs", "resume", "alpha"))
	s = m.Session("alpha")
	m.Check(s.SessionID == id && s.Running, "%+v; before %v", s, id)
}
