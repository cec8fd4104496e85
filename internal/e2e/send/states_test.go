package send

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// becomes waits until the registry has a status that it did not have at the time, and
// checks the first answer from then on.
func (m *team) becomes(status string, since time.Time) e2e.Session {
	m.Helper()
	var e e2e.Entry
	m.WaitFor("the registry says "+status, func() (bool, string) {
		e = m.Entry()
		return e.Status == status && e.StatusUpdatedAt >= since.UnixMilli(), fmt.Sprintf("%+v", e)
	})
	begun := time.Now()
	l := m.Session("alpha")
	told := time.Now()
	m.Logf("%s: told %v after Claude wrote it; the call took %v", status, told.Sub(time.UnixMilli(e.StatusUpdatedAt)), told.Sub(begun))
	m.Check(l.State == status && l.StateSource == "registry" && (e.WaitingFor == "" || l.Cause == e.WaitingFor), "the registry says %+v, the first answer is %+v", e, l)
	at := told.UnixMilli() - e.StatusUpdatedAt
	m.Check(l.StateAgeMS != nil && int64(*l.StateAgeMS) <= at, "the age is %v; at most %d ms", l.StateAgeMS, at)
	return l
}

// answer presses a key when the dialog has been on the screen for a while, and again while it still is: a dialog ignores
// what comes within a moment of its appearance. Escape is given much more time: at the prompt behind the dialog a second
// one opens a menu, while a second Enter does nothing there.
func (m *team) answer(key string) {
	m.Helper()
	target := "=" + m.Session("alpha").TmuxSession + ":"
	const settled = time.Second
	again := time.Second
	if key == "Escape" {
		again = 20 * time.Second
	}
	var next time.Time // when the key is pressed; zero: no dialog was seen
	m.WaitFor(key+" takes", func() (bool, string) {
		shown := m.Tmux("capture-pane", "-p", "-t", target)
		isOpen := strings.Contains(shown, "❯ 1. ")
		switch now := time.Now(); {
		case isOpen && next.IsZero():
			next = now.Add(settled)
		case isOpen && now.After(next):
			m.Tmux("send-keys", "-t", target, key)
			next = now.Add(again)
		case !isOpen && !next.IsZero():
			e := m.Entry()
			return e.Status != "waiting", fmt.Sprintf("%+v", e)
		}
		return false, shown
	})
}

// pane is what a pane shows.
func (m *team) pane(target string) string {
	return strings.ReplaceAll(m.Tmux("capture-pane", "-p", "-t", target), "\u00a0", " ")
}

// say types a prompt; it returns when it was.
func (m *team) say(text string) time.Time {
	m.Helper()
	target := "=" + m.Session("alpha").TmuxSession + ":"
	at := time.Now()
	m.Tmux("send-keys", "-t", target, "-l", text)
	m.WaitFor("the text is in the box", func() (bool, string) { // which is too narrow for some
		screen := m.pane(target)
		return strings.Contains(screen, "❯ "+text[:min(len(text), 60)]), screen
	})
	m.Tmux("send-keys", "-t", target, "Enter")
	return at
}

func TestStatesAgainstTheRegistry(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	m.becomes("idle", time.Time{})

	at := m.say("[[slow 700ms]] one two three four") // streaming
	m.becomes("busy", at)
	m.becomes("idle", at)

	at = m.say(`[[tool Bash {"command":"python3 -c 'import time; time.sleep(3)'","description":"w"}]]`)
	l := m.becomes("waiting", at)
	m.Check(l.Cause == "permission prompt", "%+v", l)
	at = time.Now()
	m.answer("Enter")
	m.becomes("busy", at) // in the tool
	m.becomes("idle", at)

	at = m.say(`[[tool AskUserQuestion ` + e2e.Question + `]]`)
	m.becomes("waiting", at)
	m.WaitFor("the screen shows the question", func() (bool, string) { // which Claude draws after it has told its registry
		r := m.screenshot("alpha")
		return r.Reading.Dialog == "question" && r.Reading.Asks == "a question", fmt.Sprintf("%+v", r)
	})
	at = time.Now()
	m.answer("Escape")
	m.becomes("idle", at)
}

// A turn that came to nothing leaves an agent that is idle, and says why. It is over, and not what was waited for. One that is
// tried again is not over.
func TestFailedTurnsAndRetriesAreTold(t *testing.T) {
	m := eachVersion(t)
	m.Remembers("alpha")
	m.MustPrint("alpha\tidle\t-\n", "wait", "alpha", "--for", "done", "--timeout", e2e.Patience())
	for _, c := range []struct{ prompt, state, detail string }{
		{"[[error 403]] a", "failed", "authentication failed"},
		{"[[error too-long]] a", "failed", "invalid request"},
		{"hello", "idle", ""},
	} {
		at := m.say(c.prompt)
		m.WaitSession("alpha", "has answered "+c.prompt, func(s e2e.Session) bool {
			return s.State == c.state && s.Cause == c.detail && m.Entry().StatusUpdatedAt > at.UnixMilli()
		})
	}
	m.say("[[error 400]] a")
	m.MustPrint("alpha\tfailed\tunknown\n", "wait", "alpha", "--for", "failed", "--timeout", e2e.Patience())
	m.Refused(1, "failed: unknown", "wait", "alpha", "--for", "idle")
	m.Refused(1, "failed: unknown", "wait", "alpha", "--for", "done,busy")
	m.MustSay("\n"+m.OK("list"), "\nalpha\tfailed\tunknown\trunning\t")
	m.OK("wait", "alpha", "--for", "ready")
	m.mustTellOfRetries()
}

// mustTellOfRetries checks that an API that refuses is told from one that takes its time.
func (m *team) mustTellOfRetries() {
	m.Helper()
	m.say("[[error 529 times=4]] hello")
	var seen []string
	var retrying e2e.Session
	m.WaitFor("the agent has its answer", func() (bool, string) {
		l := m.Session("alpha")
		if len(seen) == 0 || seen[len(seen)-1] != l.State {
			seen = append(seen, l.State)
		}
		if l.State == "retrying" {
			retrying = l
		}
		return l.State == "idle" && len(seen) > 2, fmt.Sprint(seen)
	})
	r := retrying.Retry
	m.Check(r != nil && r.Attempt >= 1 && r.Attempt <= 5 && r.Of == 10 && r.InS <= 10 && retrying.StateSource == "screen", "%+v", retrying)
	// Where much runs at once, a look takes longer than it is busy before.
	order := strings.Join(seen, " ")
	m.Check(strings.Contains(order, "retrying") && !strings.Contains(order, "unknown") && !strings.Contains(order, "waiting"), "the states were %s", order)
	m.MustAnswer("alpha", "You said: [[error 529 times=4]] hello")
	m.say("[[error 529]] for long")
	m.WaitState("alpha", "retrying")
	m.MustSay(m.OK("session", "alpha"), "State:           retrying: attempt ", " of 10 in ")
	m.MustSay("\n"+m.OK("list"), "\nalpha\tretrying\t")
}

// screenshot is what screen --json tells.
type screenshot struct {
	Handle        string
	CapturedAt    time.Time `json:"captured_at"`
	Width, Height int
	Text          string
	Reading       struct{ State, Dialog, Asks, Trouble string }
}

func (m *team) screenshot(handle string) (shot screenshot) {
	m.Helper()
	m.Decode(&shot, "screen", handle, "--json")
	return shot
}

func TestScreenVerb(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	out := m.OK("screen", "alpha")
	m.Check(strings.Contains(out, "● OK, I will remember 42.") && !strings.ContainsAny(out, "\x1b\r"), "%q", out)
	// Another window of the session is not the agent's.
	m.Tmux("new-window", "-t", "="+before.TmuxSession+":", "cat")
	shot := m.screenshot("alpha")
	if shot.Handle != "alpha" || shot.Width != 120 || shot.Height != 40 || shot.Reading.State != "idle" || !strings.Contains(shot.Text, "OK, I will remember 42.") {
		t.Errorf("%+v", shot)
	}
	m.Check(time.Since(shot.CapturedAt) <= time.Minute, "captured at %s", shot.CapturedAt)
	m.OK("stop", "alpha")
	m.Refused(2, "the agent has no tmux session: stopped", "screen", "alpha")
	m.Refused(2, "beta", "screen", "beta")
}

// How full a conversation is and what it cost, as the real Claude Code tells it.

func TestContextAndCostOfARealAgent(t *testing.T) {
	m := eachVersion(t)
	window := 1_000_000
	if e2e.OnOldest() {
		window = 200_000
	}
	m.OK("spawn", "alpha", "--model", "sonnet")
	s := m.Session("alpha")
	m.TypeLine(s, "Hello. [[usage 50000]]")
	l := m.WaitSession("alpha", "is measured by the status line", func(l e2e.Session) bool {
		return l.Context != nil && l.Context.Source == "status line" && l.Context.Tokens >= 50_000 && l.Cost != nil && l.Cost.USD > 0
	})
	if l.Context.Window != window || l.Context.Band != "healthy" || l.Context.LeftPercent != 100-l.Context.UsedPercent || l.Cost.Source != "status line" || l.Context.AgeS == nil {
		t.Errorf("%+v, %+v", l.Context, l.Cost)
	}
	list := m.OK("list")
	m.Check(regexp.MustCompile(`\t\d+\t\d+\.\d\d\t`).MatchString(list), "list: %q", list)
	// What the status line said before a resume is of another start.
	m.WaitState("alpha", "idle")
	m.Kill(s.RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	m.OK("resume", "alpha")
	again := m.Session("alpha").Context
	m.Check(again != nil && (again.Source == "transcript" || again.Source == "status line") && again.Tokens != 0, "after a resume: %+v", again)
	low := m.waits("alpha", "--for", "context-below=25%")
	m.TypeLine(m.Session("alpha"), "More. [[usage "+map[int]string{1_000_000: "800000", 200_000: "160000"}[window]+"]]")
	r := low.End()
	m.Check(r.Code == 0 && (r.Stdout == "alpha\tidle\t-\n" || r.Stdout == "alpha\tbusy\t-\n"), "below 25 %%: %s", r)
	m.WaitState("alpha", "idle")
	if l := m.Session("alpha"); l.Context.LeftPercent >= 25 || l.Context.Band != "low" {
		t.Errorf("%+v", l.Context)
	}
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
