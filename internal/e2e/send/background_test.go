package send

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/e2e"
)

// A shell that the agent has left running goes on after its turn, and its end begins another one.
func TestWaitForWorkInTheBackground(t *testing.T) {
	m := eachVersion(t)
	m.Remembers("alpha")
	m.MustPrint("alpha\tidle\t-\n", "wait", "alpha", "--for", "done")
	over := filepath.Join(m.World.Root, "over")
	m.OK("send", "alpha", `[[tool Bash {"command":"until test -e `+over+`; do sleep 0.1; done","run_in_background":true,"description":"d"}]]`)
	m.WaitSession("alpha", "has work in the background", func(s e2e.Session) bool { return s.State == "idle" && s.Background == 1 })
	m.MustPrint("alpha\tidle\t1 background task\n", "wait", "alpha", "--for", "idle")
	m.MustSay("\n"+m.OK("list"), "\nalpha\tidle\t1 background task\trunning\t")
	m.MustSay(m.OK("list", "--json"), `"background_tasks":1`)
	m.MustSay(m.OK("session", "alpha"), "State:           idle: 1 background task")
	m.Refused(3, "not done within 200ms: alpha is idle: 1 background task", "wait", "alpha", "--for", "done", "--timeout", "200ms")
	done := m.waits("alpha", "--for", "done")
	m.Must(os.WriteFile(over, nil, 0o600))
	m.mustEnd(done, 0, "alpha\tidle\t-\n", "")
	m.Check(m.Session("alpha").Background == 0, "%+v", m.Session("alpha"))
}
