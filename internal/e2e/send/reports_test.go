package send

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// grant answers a permission prompt with yes. Version 2.1.329 takes no key in the prompt's first
// moments, so that nobody answers it by mistake: a person would press it again.
func (m *team) grant(s e2e.Session) {
	m.Helper()
	m.WaitFor("the question is answered", func() (bool, string) {
		target := "=" + s.TmuxSession + ":"
		screen := m.pane(target)
		if strings.Contains(screen, "Do you want to proceed?") {
			m.Tmux("send-keys", "-t", target, "Enter")
			return false, screen
		}
		return m.Report("alpha").Activity.State != "waiting", screen
	})
}

// How full a conversation is and what it cost, as the status line of the real Claude Code tells it.
func TestContextAndCostOfARealAgent(t *testing.T) {
	m := eachVersion(t)
	window, nearlyFull := 1_000_000, "800000"
	if e2e.OnOldest() {
		window, nearlyFull = 200_000, "160000"
	}
	calls := filepath.Join(m.TempDir(), "calls")
	m.usersStatusLine(calls, 7)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.TypeLine(m.Session("alpha"), "Hello. [[usage 50000]]")
	l := m.WaitSession("alpha", "is measured by the status line", func(l e2e.Session) bool {
		return l.Context != nil && l.Context.Source == "status line" && l.Context.Tokens >= 50_000 && l.Cost != nil && l.Cost.USD > 0
	})
	if l.Context.Window != window || l.Context.Band != "healthy" || l.Context.LeftPercent != 100-l.Context.UsedPercent || l.Cost.Source != "status line" || l.Context.AgeS == nil {
		t.Errorf("%+v, %+v", l.Context, l.Cost)
	}
	m.Check(strings.HasPrefix(l.RunningModel, "claude-sonnet"), "it runs %q", l.RunningModel)
	list := m.OK("list")
	m.Check(regexp.MustCompile(`\t\d+\t\d+\.\d\d\t`).MatchString(list), "list: %q", list)
	m.mustGoOnWithTheUsers(calls)
	m.ProjectSettings("settings.json", `{"statusLine":{"type":"command","command":"echo PROJECTS-LINE"}}`)
	low := m.waits("alpha", "--for", "context-below=25%")
	m.TypeLine(m.Session("alpha"), "More. [[usage "+nearlyFull+"]]")
	r := low.End()
	m.Check(r.Code == 0 && (r.Stdout == "alpha\tidle\t-\n" || r.Stdout == "alpha\tbusy\t-\n"), "below 25 %%: %s", r)
	l = m.WaitState("alpha", "idle")
	m.Check(l.Context.LeftPercent < 25 && l.Context.Band == "low", "%+v", l.Context)
	m.WaitFor("the project's status line is on the screen", func() (bool, string) {
		screen := m.Screen("alpha")
		return strings.Contains(screen, "PROJECTS-LINE") && !strings.Contains(screen, "USERS-OWN-LINE"), screen
	})
	// Without the status line the transcript tells it, and what Claude wrote down when it left.
	m.OK("stop", "alpha")
	before := m.Session("alpha")
	m.Must(os.Remove(m.InNbs("status", "alpha.json")))
	l = m.Session("alpha")
	if l.Context == nil || l.Context.Source != "transcript" || l.Context.UsedPercent != before.Context.UsedPercent || l.Context.Window != window {
		t.Errorf("from the transcript: %+v; before %+v", l.Context, before.Context)
	}
	m.Check(window != 200_000 || l.Cost == nil, "the old one writes no cost, and it is %+v", l.Cost)
	m.Check(window != 1_000_000 || l.Cost != nil && l.Cost.Source == "transcript" && l.Cost.USD >= before.Cost.USD, "from the transcript: %+v; before %+v", l.Cost, before.Cost)
}

// usersStatusLine gives the user a hook and a status line.
func (m *team) usersStatusLine(calls string, padding int) {
	m.Helper()
	m.UserSettings(fmt.Sprintf(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo stopped >>$CLAUDE_CONFIG_DIR/hooked"}]}]},
		"statusLine":{"type":"command","command":"echo >>%s; echo USERS-OWN-LINE $(grep -o context_window_size)","padding":%d,"refreshInterval":1}}`, calls, padding))
}

// mustGoOnWithTheUsers checks that the user's own hooks and status line are theirs as before, over a resume. Claude puts the
// fields of the setting together from all files: ours names the command, and the user's says how the line looks and when it is
// refreshed, also when that changes while the agent runs. To pass these fields on would keep them as they were at the start.
func (m *team) mustGoOnWithTheUsers(calls string) {
	m.Helper()
	waitIndented := func(blanks int) {
		m.Helper()
		m.WaitFor("their status line is where they want it", func() (bool, string) {
			screen := m.pane("=nbs-alpha-live:")
			return strings.Contains(screen, "\n"+strings.Repeat(" ", blanks)+"USERS-OWN-LINE context_window_size"), screen
		})
	}
	waitIndented(9) // two are claude's own
	m.WaitFor("their hook was run", func() (bool, string) {
		text, err := os.ReadFile(filepath.Join(m.World.ConfigDir, "hooked"))
		return err == nil && string(text) == "stopped\n", string(text)
	})
	m.OK("resume", "alpha", "--force")
	again := m.Session("alpha").Context // what the status line said before is of another start
	m.Check(again != nil && (again.Source == "transcript" || again.Source == "status line") && again.Tokens != 0, "after a resume: %+v", again)
	waitIndented(9)
	before := len(e2e.Read(m.T, calls)) // 2.1.197 does not see a change that comes right after its start
	m.WaitFor("it is refreshed though nothing happens", func() (bool, string) {
		text, err := os.ReadFile(calls)
		return len(text) > before+2, fmt.Sprintf("%q, %v", text, err) // two at most without the setting
	})
	m.usersStatusLine(calls, 0)
	waitIndented(2)
}

// mustBeTold checks what Claude gets for a status line.
func (m *team) mustBeTold(payload, want string) {
	m.Helper()
	got := m.Said("alpha", "statusline", payload)
	m.Check(got == want, "%s: %q; want %q", payload, got, want)
}

func TestStatusLineThatHangsOrFailsIsTheUsersAffair(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.mustBeTold(`{"cost":{"total_cost_usd":1e308},"context_window":{"context_window_size":200000}}`, "") // numbers that cannot be are not kept
	m.Check(m.Report("alpha").Gauge == nil, "%+v", m.Report("alpha").Gauge)
	m.MustSay(m.Journal(), "statusline: the numbers are not those of a conversation")
	payload := `{"workspace":{"project_dir":"` + m.World.Project + `"},"context_window":{"context_window_size":200000}}`
	m.mustBeTold(payload, "")
	m.UserSettings(`{"statusLine":{"type":"command","command":"echo mine; exit 3"}}`)
	m.mustBeTold(payload, "mine\n")
	m.mustBeTold("no JSON", "mine\n")
	m.ProjectSettings("settings.local.json", `{"statusLine":{"type":"command","command":"echo $$; sleep 1000 & echo partly; sleep 1000"}}`)
	out := m.Said("alpha", "statusline", payload)
	m.Check(strings.HasSuffix(out, "\npartly\n"), "one that hangs: %q", out)
	r := m.Report("alpha")
	m.Check(r.Gauge != nil && r.Gauge.Window == 200000, "the report: %+v", r)
}

// What fails is in the journal, and does not fill it.
func TestHooksThatFailAreInTheJournalOnce(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	s := m.Session("alpha")
	for range 5 {
		out := m.Said("alpha", "hook", "no JSON")
		m.Check(out == "", "a hook said %q", out)
	}
	m.MustSayOnce(m.Journal(), "hook: ")
	m.MustBeInTheJournal("failed", "alpha", s.SessionID)
}

// Hooks of an earlier start, or of somebody else's, are ignored.
func TestHooksOfOthersAreIgnored(t *testing.T) {
	m := standIn(t)
	s := m.Remembers("alpha")
	m.WaitReport("alpha", "the end of the turn", func(r e2e.Report) bool { return r.Activity.Hook == "Stop" })
	before, journal := m.Report("alpha"), m.Journal()
	payload := `{"session_id":"` + s.SessionID + `","hook_event_name":"UserPromptSubmit"}`
	for _, env := range [][]string{
		nil, {"NBS_HANDLE=alpha"}, {"NBS_HANDLE=alpha", "NBS_INVOCATION_ID=4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"},
		{"NBS_HANDLE=../alpha", "NBS_INVOCATION_ID=" + before.Invocation}, {"NBS_HANDLE=beta", "NBS_INVOCATION_ID=" + before.Invocation},
	} {
		cmd := m.Command([]string{"hook"}, env...)
		cmd.Stdin = strings.NewReader(payload)
		r := m.Finish(cmd)
		m.Check(r.Code == 0 && r.Stdout+r.Stderr == "", "%q: %s", env, r)
	}
	after := m.Report("alpha")
	m.Check(after.Activity == before.Activity && m.Journal() == journal, "before %+v\nafter %+v", before, after)
}

// Somebody may configure ours as their own. It does not call itself again and again.
func TestStatusLineDoesNotRunItself(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	calls := filepath.Join(m.TempDir(), "calls")
	m.UserSettings(`{"statusLine":{"type":"command","command":"echo >>` + calls + `; echo mine; test $(wc -l <` + calls + `) -gt 20 || ` + m.Worker + ` statusline"}}`)
	payload := `{"workspace":{"project_dir":"` + m.World.Project + `"},"context_window":{"context_window_size":200000}}`
	out := m.Said("alpha", "statusline", payload)
	text, err := os.ReadFile(calls)
	m.Check(err == nil && len(text) == 1 && out == "mine\n", "%d calls, %v: %q", len(text), err, out)
}
