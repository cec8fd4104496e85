package send

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// A subagent has hooks of its own. That it asks holds the agent too; else they are nothing of the agent's. A shell that the agent
// has left running goes on after its turn, and its end begins another one.
func TestWorkBesideTheTurn(t *testing.T) {
	m := eachVersion(t)
	m.UserSettings(`{"hooks":{"SubagentStop":[{"hooks":[{"type":"command","command":"cat >>$CLAUDE_CONFIG_DIR/hooked"}]}]}}`)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default", "--prompt",
		`[[tool Task {"description":"d","prompt":"\u005b\u005btool Bash {\"command\":\"touch made\"}]]","subagent_type":"general-purpose"}]]`)
	before := m.Session("alpha")
	m.WaitState("alpha", "waiting") // its hook may come before the one that tells of the end of the agent's own turn
	m.grant(before)
	m.WaitReport("alpha", "its end", func(r e2e.Report) bool { return r.Activity.State == "idle" && r.Activity.Hook == "Stop" })
	m.WaitFor("the subagent has ended", func() (bool, string) {
		text, _ := os.ReadFile(filepath.Join(m.World.ConfigDir, "hooked"))
		return strings.Contains(string(text), `"agent_id"`), string(text)
	})
	after := m.WaitState("alpha", "idle")
	if r := m.Report("alpha"); after.SessionID != before.SessionID || len(after.PreviousSessions) > 0 || r.SessionID != before.SessionID || r.End != nil {
		t.Errorf("after %+v\nreport %+v", after, r)
	}

	m.MustPrint("alpha\tidle\t-\n", "wait", "alpha", "--for", "done")
	over := filepath.Join(m.World.Root, "over")
	m.OK("send", "alpha", `[[tool Bash {"command":"until test -e `+over+`; do sleep 0.1; done","run_in_background":true,"description":"d"}]]`)
	m.grant(before)
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
