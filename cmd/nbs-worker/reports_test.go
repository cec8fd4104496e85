package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// The user's own hooks and status line are theirs as before.
func TestUsersHooksAndStatusLineGoOn(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.userSettings(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo stopped >>$CLAUDE_CONFIG_DIR/hooked"}]}]},
			"statusLine":{"type":"command","command":"grep -o context_window_size && echo USERS-OWN-LINE"}}`)
		s := m.remembers("alpha")
		m.waitFor("their status line is on the screen", func() (bool, string) {
			screen := m.screen("alpha")
			return strings.Contains(screen, "context_window_size") && strings.Contains(screen, "USERS-OWN-LINE"), screen
		})
		m.waitReport("alpha", "all the same", func(r report) bool { return r.Activity.Hook == "Stop" && r.Gauge != nil && r.Gauge.Tokens > 0 })
		m.waitFor("their hook was run", func() (bool, string) {
			text, err := os.ReadFile(filepath.Join(m.world.ConfigDir, "hooked"))
			return err == nil && string(text) == "stopped\n", string(text)
		})
		m.projectSettings("settings.json", `{"statusLine":{"type":"command","command":"echo PROJECTS-LINE"}}`)
		m.typeLine(s, "Remember 43.")
		m.waitFor("the project's status line is on the screen", func() (bool, string) {
			screen := m.screen("alpha")
			return strings.Contains(screen, "PROJECTS-LINE") && !strings.Contains(screen, "USERS-OWN-LINE"), screen
		})
	})
}

// Claude puts the fields of the setting together from all files: ours names the command, and
// the user's says how the line looks and when it is refreshed, also when that changes while
// the agent runs. To pass these fields on would keep them as they were at the start.
func TestUsersStatusLineLooksAsConfigured(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		calls := filepath.Join(m.TempDir(), "calls")
		configure := func(padding int) {
			m.userSettings(fmt.Sprintf(`{"statusLine":{"type":"command","command":"echo >>%s; echo USERS-OWN-LINE","padding":%d,"refreshInterval":1}}`, calls, padding))
		}
		waitIndented := func(blanks int) {
			m.Helper()
			m.waitFor("their status line is where they want it", func() (bool, string) {
				screen := m.screen("alpha")
				return strings.Contains(screen, "\n"+strings.Repeat(" ", blanks)+"USERS-OWN-LINE"), screen
			})
		}
		configure(7)
		m.ok("spawn", "alpha", "--model", "sonnet")
		waitIndented(9) // two are claude's own
		m.ok("resume", "alpha", "--force")
		waitIndented(9)
		before := len(read(m.T, calls)) // 2.1.197 does not see a change that comes right after its start
		m.waitFor("it is refreshed though nothing happens", func() (bool, string) {
			text, err := os.ReadFile(calls)
			return len(text) > before+2, fmt.Sprintf("%q, %v", text, err) // two at most without the setting
		})
		configure(0)
		waitIndented(2)
	})
}

func (m *team) projectSettings(name, text string) {
	m.Helper()
	m.write(filepath.Join(m.world.Project, ".claude", name), text)
}

// said calls nbs-worker as an agent's claude does, and must succeed.
func (m *team) said(handle, verb, payload string) string {
	m.Helper()
	invocation, _ := process(m.record(handle))["invocation"].(string)
	cmd := m.command([]string{verb}, "NBS_HANDLE="+handle, "NBS_ROOT="+m.world.Project, "NBS_INVOCATION_ID="+invocation)
	cmd.Stdin = strings.NewReader(payload)
	r := m.finish(cmd)
	m.check(r.code == 0 && r.stderr == "", "%s: %s", verb, r)
	return r.stdout
}

// mustBeTold checks what Claude gets for a status line.
func (m *team) mustBeTold(payload, want string) {
	m.Helper()
	got := m.said("alpha", "statusline", payload)
	m.check(got == want, "%s: %q; want %q", payload, got, want)
}

func TestStatusLineThatHangsOrFailsIsTheUsersAffair(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.mustBeTold(`{"cost":{"total_cost_usd":1e308},"context_window":{"context_window_size":200000}}`, "") // numbers that cannot be are not kept
	m.check(m.report("alpha").Gauge == nil, "%+v", m.report("alpha").Gauge)
	m.mustSay(m.journal(), "statusline: the numbers are not those of a conversation")
	payload := `{"workspace":{"project_dir":"` + m.world.Project + `"},"context_window":{"context_window_size":200000}}`
	m.mustBeTold(payload, "")
	m.userSettings(`{"statusLine":{"type":"command","command":"echo mine; exit 3"}}`)
	m.mustBeTold(payload, "mine\n")
	m.mustBeTold("no JSON", "mine\n")
	m.projectSettings("settings.local.json", `{"statusLine":{"type":"command","command":"echo $$; sleep 1000 & echo partly; sleep 1000"}}`)
	out := m.said("alpha", "statusline", payload)
	m.check(strings.HasSuffix(out, "\npartly\n"), "one that hangs: %q", out)
	r := m.report("alpha")
	m.check(r.Gauge != nil && r.Gauge.Window == 200000, "the report: %+v", r)
}

// What fails is in the journal, and does not fill it.
func TestHooksThatFailAreInTheJournalOnce(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	s := m.session("alpha")
	for range 5 {
		out := m.said("alpha", "hook", "no JSON")
		m.check(out == "", "a hook said %q", out)
	}
	m.mustSayOnce(m.journal(), "hook: ")
	m.mustBeInTheJournal("failed", "alpha", s.SessionID)
}

// Hooks of an earlier start, or of somebody else's, are ignored.
func TestHooksOfOthersAreIgnored(t *testing.T) {
	m := standIn(t)
	s := m.remembers("alpha")
	m.waitReport("alpha", "the end of the turn", func(r report) bool { return r.Activity.Hook == "Stop" })
	before, journal := m.report("alpha"), m.journal()
	payload := `{"session_id":"` + s.SessionID + `","hook_event_name":"UserPromptSubmit"}`
	for _, env := range [][]string{
		nil, {"NBS_HANDLE=alpha"}, {"NBS_HANDLE=alpha", "NBS_INVOCATION_ID=4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"},
		{"NBS_HANDLE=../alpha", "NBS_INVOCATION_ID=" + before.Invocation}, {"NBS_HANDLE=beta", "NBS_INVOCATION_ID=" + before.Invocation},
	} {
		cmd := m.command([]string{"hook"}, env...)
		cmd.Stdin = strings.NewReader(payload)
		r := m.finish(cmd)
		m.check(r.code == 0 && r.stdout+r.stderr == "", "%q: %s", env, r)
	}
	after := m.report("alpha")
	m.check(after.Activity == before.Activity && m.journal() == journal, "before %+v\nafter %+v", before, after)
}

// Somebody may configure ours as their own. It does not call itself again and again.
func TestStatusLineDoesNotRunItself(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	calls := filepath.Join(m.TempDir(), "calls")
	m.userSettings(`{"statusLine":{"type":"command","command":"echo >>` + calls + `; echo mine; test $(wc -l <` + calls + `) -gt 20 || ` + m.worker + ` statusline"}}`)
	payload := `{"workspace":{"project_dir":"` + m.world.Project + `"},"context_window":{"context_window_size":200000}}`
	out := m.said("alpha", "statusline", payload)
	text, err := os.ReadFile(calls)
	m.check(err == nil && len(text) == 1 && out == "mine\n", "%d calls, %v: %q", len(text), err, out)
}
