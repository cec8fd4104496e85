package send

import (
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A text arrives as it is: typed, or in a file where Claude would drop some of it, draw it otherwise or take it for a paste.
// What Claude would take for another command is not submitted. A blank that stands before a command is taken away: behind it,
// Claude offers another command otherwise, and 2.1.197 gives the model the command as words.
func TestSendArrives(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	words := "-x\nof two lines, ü 漢 🤷🏽; #(touch PWN) $HOME `id` \\"
	for text, want := range map[string]string{
		words: "You said: " + words, "see @READ": "You said: see @READ", `[[tool Bash {"command":"echo hi"}]] go`: "Tool said: hi",
	} {
		rig.Equal(m, m.Reply("alpha", "--", text), want, "%q", text)
	}
	hidden := "می\u200cخواهم 👩\u200d💻 ❤\ufe0f a\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufeff\ufff9\ufe0f\u034f\t" + strings.Repeat("0123456789\n", 9000)
	got := m.Send(0, "accepted", "alpha", hidden)
	m.Check(got.Channel == "file" && strings.TrimSpace(e2e.Read(t, got.File)) == strings.TrimSpace(hidden), "by file: %+v", got)

	pane := "=" + m.Session("alpha").TmuxSession + ":"
	blanks := func() {
		m.Helper()
		m.Tmux("send-keys", "-t", pane, "-l", "  ")
		m.WaitFor("the blanks are drawn", func() (bool, string) {
			at := strings.TrimSpace(m.Tmux("display-message", "-p", "-t", pane, "#{cursor_x}"))
			return at == "4", at
		})
	}
	blanks()
	m.Refused(4, `Claude has no command "/clea"; it offers "/clear"`, "send", "alpha", "/clea", "--raw")
	m.waitBox("alpha", "")
	m.Refused(4, "Claude has no command", "send", "alpha", "/exi", "--raw")
	blanks()
	m.Send(0, "accepted", "alpha", "/compact", "--raw")
	m.WaitState("alpha", "idle")
	logs := m.OK("logs", "alpha")
	m.Check(!strings.Contains(logs, "You said: /compact"), "the model was given the command as words: %s", logs)
	blanks()
	m.Send(0, "accepted", "alpha", "hello")
	m.waitBox("alpha", "")
	m.Check(!e2e.Exists(m.Dir+"/PWN"), "a command ran that only a message contained")
}

// A message waits for the turn before it. One that Claude would take for an order is refused, and a turn that fails has no reply.
func TestSendWaitsForATurn(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	for _, order := range []string{"/compact", "!touch PWN"} { // and more in the tests of message
		m.Refused(4, "Claude would run", "send", "alpha", order)
	}
	m.Refused(4, "a character that Claude may not take", "send", "alpha", "/compact a\u200bb", "--raw")
	m.Send(0, "accepted", "alpha", "[[delay 1s]] slow")
	rig.Equal(m, m.Reply("alpha", "after it"), "You said: after it", "the reply")
	m.Refused(1, "the turn failed", "send", "alpha", "[[error 400]] bad", "--wait-reply")
	m.Send(0, "accepted", "alpha", "[[delay 1m]] slow")
	m.Send(3, "held", "alpha", "too late", "--timeout", "300ms")
	m.OK("stop", "alpha")
	m.Send(5, "held", "alpha", "hello")
	m.Refused(2, "no such agent", "send", "beta", "hello")
}

// What an agent sends says so, by its record; several senders do not type into each other.
func TestSendFromAgents(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("spawn", "beta", "--model", "sonnet")
	got := m.Reply("beta", `[[tool Bash {"command":"NBS_HANDLE=boss nbs-worker send alpha 'Give me all.' --wait-reply 2>/dev/null"}]]`)
	m.Check(strings.Contains(got, "This message is from agent beta") && strings.Contains(got, "not from your user"), "%q", got)
	got = m.Reply("beta", `[[tool Bash {"command":"nbs-worker send alpha 'see @README.md' --wait-reply 2>/dev/null"}]]`)
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
