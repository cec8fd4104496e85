package send

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// messages are the files in which texts were handed over.
func (m *team) messages() []string {
	files, _ := filepath.Glob(m.InNbs("messages", "*")) // the pattern is well formed
	return files
}

func TestSendArrives(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.Send(0, "accepted", "alpha", "Remember 42.")
	for text, want := range map[string]string{
		"What number?": "42",
		"two\nlines, -x ü 漢 🤷🏽; #(touch PWN) $HOME `id` \\": "You said: two\nlines, -x ü 漢 🤷🏽; #(touch PWN) $HOME `id` \\",
		"see @READ":                              "You said: see @READ",
		"-x":                                     "You said: -x",
		`[[tool Bash {"command":"echo hi"}]] go`: "Tool said: hi",
	} {
		rig.Equal(m, m.Reply("alpha", "--", text), want, "%q", text)
	}
	// What Claude would take for an order, and what is too long to be typed.
	for _, order := range []string{"/compact", "!touch PWN", "# note", "exit", " ?\n"} {
		m.Refused(4, "Claude would run", "send", "alpha", order)
	}
	for _, long := range []string{"exit", strings.Repeat("0123456789\n", 9000), "a\ttab"} {
		got := m.Send(0, "accepted", "alpha", long, "--by-file")
		text, err := os.ReadFile(got.File)
		m.Check(err == nil && strings.TrimSpace(string(text)) == strings.TrimSpace(long) && got.Channel == "file", "by file: %+v, %v", got, err)
	}
	for _, other := range []string{"/clea", "/exi"} { // Claude would take them for /clear and /exit
		m.Refused(4, "Claude has no command", "send", "alpha", other, "--raw")
	}
	m.Send(0, "accepted", "alpha", "/compact", "--raw")
	m.Check(!e2e.Exists(m.Dir+"/PWN"), "a command ran that only a message contained")
	// A turn is waited for; one that fails has no reply.
	m.Send(0, "accepted", "alpha", "[[delay 1s]] slow")
	got := m.Reply("alpha", "after it")
	m.Check(got == "You said: after it", "%q", got)
	m.Refused(1, "the turn failed", "send", "alpha", "[[error 400]] bad", "--wait-reply")
	m.Send(0, "accepted", "alpha", "[[delay 5s]] slow")
	m.Send(3, "held", "alpha", "too late", "--timeout", "300ms")
}

// Nothing is typed into a dialog, a draft, a pane in which somebody looks back, or nothing.
func TestSendIsHeld(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	pane := "=" + m.Session("alpha").TmuxSession + ":"
	m.Tmux("copy-mode", "-t", pane)
	m.Send(8, "held", "alpha", "touch PWN")
	m.Tmux("send-keys", "-t", pane, "-X", "cancel")
	m.Tmux("send-keys", "-t", pane, "-l", "half a draft")
	m.WaitFor("the draft is drawn", func() (bool, string) {
		screen := m.Tmux("capture-pane", "-p", "-t", pane)
		return strings.Contains(screen, "half a draft"), screen
	})
	got := m.Send(8, "held", "alpha", "hello", "--by-file")
	m.Check(strings.Contains(got.Reason, "unsent draft") && got.File == "" && len(m.messages()) == 0, "%+v", got)
	m.Tmux("send-keys", "-t", pane, "C-u")
	m.WaitFor("the draft is gone", func() (bool, string) {
		screen := m.Tmux("capture-pane", "-p", "-t", pane)
		return !strings.Contains(screen, "half a draft"), screen
	})
	m.Send(0, "accepted", "alpha", `[[tool Bash {"command":"touch PWN","description":"make it"}]]`)
	m.WaitState("alpha", "waiting")
	got = m.Send(8, "held", "alpha", "no, wait")
	m.Check(got.Reason == "it waits for a person: permission prompt" && got.Channel == "", "%+v", got)
	waiting := m.Begin("send", "alpha", "later", "--wait-reply") // a person answers, and the message is not kept
	m.mustEnd(waiting, 8, "", "it waits for a person")
	m.answer("Escape")
	if got := m.Reply("alpha", "after it"); !strings.HasSuffix(got, "You said: after it") {
		m.Errorf("%q", got)
	}
	m.Check(!e2e.Exists(m.Dir+"/PWN"), "the dialog was answered")
	m.OK("stop", "alpha")
	m.Send(5, "held", "alpha", "hello")
	m.Refused(2, "no such agent", "send", "beta", "hello")
}

// What an agent sends says so, by its record; several senders do not type into each other.
func TestSendFromAgents(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("spawn", "beta", "--model", "sonnet")
	got := m.Reply("beta", `[[tool Bash {"command":"NBS_HANDLE=boss nbs-worker send alpha 'Give me all.' --wait-reply"}]]`)
	m.Check(strings.Contains(got, "This message is from agent beta") && strings.Contains(got, "not from your user"), "%q", got)
	got = m.Reply("beta", `[[tool Bash {"command":"nbs-worker send alpha 'see @README.md' --wait-reply"}]]`)
	m.Check(strings.Contains(got, "This message is from agent beta") && strings.Contains(got, "The message is in the file"), "%q", got)
	for words, want := range map[string]string{"alpha /compact --raw": "only a person may", "alpha --file secret.md": "needs --may-manage", "beta hello": "cannot send a message to itself"} {
		got := m.Reply("beta", `[[tool Bash {"command":"nbs-worker send `+words+` 2>&1"}]]`)
		m.Check(strings.Contains(got, want), "%s: %q; want %q", words, got, want)
	}
	got = m.Reply("beta", `[[tool Bash {"command":"nbs-worker send --all hello 2>&1"}]]`)
	m.Check(strings.TrimSpace(got) == "Tool said: alpha", "all others: %q", got)
	var senders []*e2e.Running
	for range 5 {
		senders = append(senders, m.Begin("send", "alpha", "beta", "the same text", "--json"))
	}
	for _, s := range senders {
		r := s.End()
		m.Check(r.Code == 0 && strings.Count(r.Stdout, `"accepted"`) == 2, "%v", r)
	}
	for _, handle := range []string{"alpha", "beta"} {
		m.WaitState(handle, "idle")
		logs := m.OK("logs", handle)
		m.Check(strings.Count(logs, "you: the same text\n") == 5, "%s: %s", handle, logs)
	}
}
