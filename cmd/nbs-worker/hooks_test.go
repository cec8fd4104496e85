package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// report is what an agent's claude said last, as the file has it.
type report struct {
	Invocation string
	SessionID  string `json:"session_id"`
	Activity   struct{ State, Detail, Hook string }
	Failure    *struct{ Class string }
	End        *struct{ Reason string }
	Gauge      *struct {
		Tokens, Window int
		UsedPercent    *int    `json:"used_percent"`
		CostUSD        float64 `json:"cost_usd"`
	}
}

func (m *team) report(handle string) (r report) {
	m.Helper()
	text, err := os.ReadFile(m.inNbs("status", handle+".json"))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil && !os.IsNotExist(err) {
		m.Fatal(err)
	}
	return r
}

// waitReport waits until the agent's claude has said something.
func (m *team) waitReport(handle, what string, is func(r report) bool) (r report) {
	m.Helper()
	m.waitFor(handle+" reports "+what, func() (bool, string) {
		r = m.report(handle)
		text, _ := json.Marshal(r)
		return is(r), string(text) + "\n" + m.screen(handle)
	})
	return r
}

// grant answers a permission prompt with yes. Version 2.1.329 takes no key in the prompt's first
// moments, so that nobody answers it by mistake: a person would press it again.
func (m *team) grant(s session) {
	m.Helper()
	m.waitFor("the question is answered", func() (bool, string) {
		screen := m.screen("alpha")
		if strings.Contains(screen, "Do you want to proceed?") {
			m.tmux("send-keys", "-t", "="+s.TmuxSession+":", "Enter")
			return false, screen
		}
		return m.report("alpha").Activity.State != "waiting", screen
	})
}

func TestAgentReportsThroughHooksAndStatusLine(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
		s := m.waitState("alpha", "idle")
		m.waitReport("alpha", "its start", func(r report) bool {
			return r.SessionID == s.SessionID && r.Activity.State == "idle" && r.Activity.Hook == "SessionStart"
		})
		m.typeLine(s, "Remember 42. [[delay 500ms]] [[usage 100000]]")
		m.waitReport("alpha", "a prompt", func(r report) bool { return r.Activity.State == "busy" && r.Activity.Hook == "UserPromptSubmit" })
		m.waitReport("alpha", "the end of the turn", func(r report) bool { return r.Activity.State == "idle" && r.Activity.Hook == "Stop" })
		m.waitReport("alpha", "how full it is", func(r report) bool {
			return r.Gauge != nil && r.Gauge.Tokens >= 100000 && r.Gauge.UsedPercent != nil && r.Gauge.Window >= 200000 && r.Gauge.CostUSD > 0
		})
		m.typeLine(s, "[[error 400]] Go on.")
		m.waitReport("alpha", "a failed turn", func(r report) bool { return r.Failure != nil && r.Failure.Class == "unknown" })
		m.typeLine(s, `[[tool Bash {"command":"touch made"}]]`)
		m.waitReport("alpha", "a question", func(r report) bool { return r.Activity.State == "waiting" && r.Activity.Detail == "permission prompt" })
		m.grant(s)
		m.waitReport("alpha", "the end of the tool's turn", func(r report) bool {
			return r.Activity.State == "idle" && r.Activity.Hook == "Stop" && r.Failure == nil
		})
		m.ok("stop", "alpha")
		r := m.report("alpha")
		m.check(r.End != nil && r.End.Reason == "other", "no goodbye: %+v", r)
	})
}
