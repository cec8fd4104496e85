package send

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// What an agent does and asks, as the registry, the hooks and the screen of its claude tell it.
func TestStatesAgainstTheRegistry(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	m.becomes("idle", time.Time{})
	m.waitHook("SessionStart", "idle")

	at := m.say("[[until told]] [[slow 100ms]] one two three four")
	m.becomes("busy", at)
	m.waitHook("UserPromptSubmit", "busy")
	m.API.Release("told")
	m.becomes("idle", at)
	m.waitHook("Stop", "idle")

	at = m.say(`[[tool Bash {"command":"touch made-here; until test -e seen; do sleep 0.1; done","description":"w"}]]`)
	l := m.becomes("waiting", at)
	m.Check(l.Cause == "permission prompt", "%+v", l)
	r := m.waitHook("PermissionRequest", "waiting")
	m.Check(r.Activity.Detail == "permission prompt", "%+v", r)
	m.waitAsked("permission", "")
	asked := m.OK("wait", "alpha", "--for", "waiting", "--timeout", e2e.Patience())
	m.MustSay(asked, "alpha\twaiting\tpermission prompt\tBash command · ", "touch made-here", "Do you want to proceed? [Yes / ", " / No]\n")
	m.mustAsk("permission", "touch made-here", "\nDo you want to proceed?", "Yes,No")
	at = time.Now()
	m.answer("Enter")
	m.becomes("busy", at) // in the tool
	m.Must(os.WriteFile(filepath.Join(m.Dir, "seen"), nil, 0o600))
	m.becomes("idle", at)
	m.waitHook("Stop", "idle")
	m.mustTellOfFailures()

	at = m.say(`[[tool AskUserQuestion ` + e2e.Question + `]]`)
	m.becomes("waiting", at)
	m.waitAsked("question", "a question")
	m.mustAsk("question", "So?", "So?", "L,R")
	at = time.Now()
	m.answer("Escape")
	m.becomes("idle", at)
	m.OK("stop", "alpha")
	r = m.Report("alpha")
	m.Check(r.End != nil && r.End.Reason == "other", "no goodbye: %+v", r)
}

// waitHook waits until the agent's claude has run a hook of ours, and the report says the state.
func (m *team) waitHook(hook, state string) e2e.Report {
	m.Helper()
	return m.WaitReport("alpha", hook, func(r e2e.Report) bool {
		return r.SessionID == m.Record("alpha")["session_id"] && r.Activity.Hook == hook && r.Activity.State == state
	})
}

// waitAsked waits until the screen shows a dialog, which Claude draws after it has told its registry.
func (m *team) waitAsked(dialog, asks string) {
	m.Helper()
	m.WaitFor("the screen shows what is asked", func() (bool, string) {
		r := m.screenshot("alpha")
		return r.Reading.Dialog == dialog && (asks == "" || r.Reading.Asks == asks), fmt.Sprintf("%+v", r)
	})
}

// mustAsk checks what session, list, triage and the JSON of all say that alpha asks.
func (m *team) mustAsk(dialog, words, end, choices string) {
	m.Helper()
	type question struct {
		Dialog, Text string
		Choices      []string
	}
	for _, verb := range [][]string{{"session", "alpha"}, {"list"}, {"wait", "alpha", "--for", "waiting"}} {
		var said []struct{ Question question }
		m.Decode(&said, append(verb, "--json")...)
		q := said[0].Question
		has := strings.Join(q.Choices, ",") + ","
		for choice := range strings.SplitSeq(choices, ",") {
			m.Check(strings.Contains(has, choice+","), "no %s in %q", choice, q.Choices)
		}
		m.Check(q.Dialog == dialog && strings.Contains(q.Text, words) && strings.HasSuffix(q.Text, end), "%+v", q)
	}
	m.MustSay(m.OK("session", "alpha"), "\nAsks:            ", words, "\nChoices:         ")
	m.WaitFor("a hook waits", func() (bool, string) { open := m.OK("requests"); return open != "", open })
	triage := m.NBS("triage", "alpha")
	m.Check(triage.Code == 8, "%v", triage)
	m.MustSay(triage.Stdout, words, "nbs-worker requests alpha")
}

// mustTellOfFailures checks that a turn that came to nothing leaves an agent that says why. It is over, and not what was waited
// for. One that is tried again is not over.
func (m *team) mustTellOfFailures() {
	m.Helper()
	m.say("[[error 400]] a")
	m.MustPrint("alpha\tfailed\tunknown\n", "wait", "alpha", "--for", "failed", "--timeout", e2e.Patience())
	m.WaitReport("alpha", "a failed turn", func(r e2e.Report) bool { return r.Failure != nil && r.Failure.Class == "unknown" })
	m.Refused(1, "failed: unknown", "wait", "alpha", "--for", "idle")
	m.Refused(1, "failed: unknown", "wait", "alpha", "--for", "done,busy")
	m.MustSay("\n"+m.OK("list"), "\nalpha\tfailed\tunknown\trunning\t")
	m.OK("wait", "alpha", "--for", "ready")
	at := m.say("[[error 403]] a")
	m.WaitSession("alpha", "has failed", func(s e2e.Session) bool {
		return s.State == "failed" && s.Cause == "authentication failed" && m.Entry().StatusUpdatedAt > at.UnixMilli()
	})
	m.mustTellOfRetries()
}

// mustTellOfRetries checks that an API that refuses is told from one that takes its time.
func (m *team) mustTellOfRetries() {
	m.Helper()
	m.say("[[error 529 until=healed]] hello")
	var seen []string
	retrying := m.WaitSession("alpha", "is tried again", func(s e2e.Session) bool {
		if len(seen) == 0 || seen[len(seen)-1] != s.State {
			seen = append(seen, s.State)
		}
		return s.State == "retrying"
	})
	m.API.Release("healed")
	m.WaitState("alpha", "idle")
	r := retrying.Retry
	m.Check(r != nil && r.Attempt >= 1 && r.Attempt <= r.Of && r.Of == 10 && r.InS <= 40 && retrying.StateSource == "screen", "%+v", retrying)
	order := strings.Join(seen, " ")
	m.Check(!strings.Contains(order, "unknown") && !strings.Contains(order, "waiting"), "the states were %s", order)
	m.MustAnswer("alpha", "You said: [[error 529 until=healed]] hello")
	m.MustPrint("alpha\tidle\t-\n", "wait", "alpha", "--for", "done", "--timeout", e2e.Patience())
	m.say("[[error 529]] for long")
	m.WaitState("alpha", "retrying")
	m.MustSay(m.OK("session", "alpha"), "State:           retrying: attempt ", " of 10 in ")
	m.MustSay("\n"+m.OK("list"), "\nalpha\tretrying\t")
	m.interrupt("interrupted")
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
