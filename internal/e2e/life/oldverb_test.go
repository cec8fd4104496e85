package life

import (
	"fmt"
	"os"
	"testing"
)

// A verb that was killed leaves its signature, and its pid may become that of a launcher,
// which lives for days. It is no verb at work all the same.
func TestPidOfAKilledVerbThatALauncherHasNow(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("spawn", "beta", "--model", "sonnet")
	signature := fmt.Sprintf(`{"pid":%d,"verb":"resume","handle":"alpha","since":"2026-02-20T11:44:07Z"}`, m.Launcher("beta"))
	m.Must(os.WriteFile(m.InNbs("locks", "alpha.verb"), []byte(signature+"\n"), 0o600))
	const next = "5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"
	m.registerAs(before, next)
	m.Said("alpha", "hook", `{"session_id":"`+next+`","hook_event_name":"SessionStart","source":"clear"}`)
	after := m.WaitMoved(before, "clear")
	m.Check(after.SessionID == next, "the record does not follow: %+v", after)
}
