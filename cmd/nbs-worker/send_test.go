package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// receipt is what send --json tells.
type receipt struct {
	Handle, Receipt, Channel, UUID, File, Outbox, Reason string
	Reply                                                *string
}

// send sends and returns the receipt, which must be such.
func (m *team) send(code int, want string, args ...string) receipt {
	m.Helper()
	r := m.nbs(append([]string{"send", "--json"}, args...)...)
	var all []receipt
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil || len(all) != 1 {
		m.Fatalf("send %q: %v, %s", args, err, r)
	}
	m.check(r.code == code && all[0].Receipt == want, "send %q: want %s and exit code %d, got %s", args, want, code, r)
	return all[0]
}

// reply is what an agent answers to a message.
func (m *team) reply(args ...string) string {
	m.Helper()
	if got := m.send(0, "accepted", append([]string{"--wait-reply", "--timeout", "1m"}, args...)...); got.Reply != nil {
		return *got.Reply
	}
	m.Errorf("%q: no reply", args)
	return ""
}

// messages are the files in which texts were handed over.
func (m *team) messages() []string {
	files, _ := filepath.Glob(m.inNbs("messages", "*")) // the pattern is well formed
	return files
}

func TestSendArrives(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet")
		m.send(0, "accepted", "alpha", "Remember 42.")
		for text, want := range map[string]string{
			"What number?": "42",
			"two\nlines, -x ü 漢 👩‍💻; #(touch PWN) $HOME `id` \\": "You said: two\nlines, -x ü 漢 👩‍💻; #(touch PWN) $HOME `id` \\",
			"see @READ":                              "You said: see @READ",
			"-x":                                     "You said: -x",
			`[[tool Bash {"command":"echo hi"}]] go`: "Tool said: hi",
		} {
			rig.Equal(m, m.reply("alpha", "--", text), want, "%q", text)
		}
		// What Claude would take for an order, and what is too long to be typed.
		for _, order := range []string{"/compact", "!touch PWN", "# note", "exit", " ?\n"} {
			m.refused(4, "Claude would take", "send", "alpha", order)
		}
		for _, long := range []string{"exit", strings.Repeat("0123456789\n", 9000), "a\ttab"} {
			got := m.send(0, "accepted", "alpha", long, "--by-file")
			text, err := os.ReadFile(got.File)
			m.check(err == nil && strings.TrimSpace(string(text)) == strings.TrimSpace(long) && got.Channel == "file", "by file: %+v, %v", got, err)
		}
		for _, other := range []string{"/clea", "/exi"} { // Claude would take them for /clear and /exit
			m.send(4, "held", "alpha", other, "--raw")
		}
		m.send(0, "accepted", "alpha", "/compact", "--raw")
		m.check(!exists(m.dir+"/PWN"), "a command ran that only a message contained")
		// A turn is waited for; one that fails has no reply.
		m.send(0, "accepted", "alpha", "[[delay 1s]] slow")
		got := m.reply("alpha", "after it")
		m.check(got == "You said: after it", "%q", got)
		m.refused(1, "the turn failed", "send", "alpha", "[[error 400]] bad", "--wait-reply")
		m.send(0, "accepted", "alpha", "[[delay 5s]] slow")
		m.send(3, "held", "alpha", "too late", "--timeout", "300ms")
	})
}

// Nothing is typed into a dialog, a draft, a pane in which somebody looks back, or nothing.
func TestSendIsHeld(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
		pane := "=" + m.session("alpha").TmuxSession + ":"
		m.tmux("copy-mode", "-t", pane)
		m.send(8, "held", "alpha", "touch PWN")
		m.tmux("send-keys", "-t", pane, "-X", "cancel")
		m.tmux("send-keys", "-t", pane, "-l", "half a draft")
		m.waitFor("the draft is drawn", func() (bool, string) {
			screen := m.tmux("capture-pane", "-p", "-t", pane)
			return strings.Contains(screen, "half a draft"), screen
		})
		got := m.send(8, "held", "alpha", "hello", "--by-file")
		m.check(strings.Contains(got.Reason, "unsent draft") && got.File == "" && len(m.messages()) == 0, "%+v", got)
		m.tmux("send-keys", "-t", pane, "C-u")
		m.waitFor("the draft is gone", func() (bool, string) {
			screen := m.tmux("capture-pane", "-p", "-t", pane)
			return !strings.Contains(screen, "half a draft"), screen
		})
		m.send(0, "accepted", "alpha", `[[tool Bash {"command":"touch PWN","description":"make it"}]]`)
		m.waitState("alpha", "waiting")
		got = m.send(8, "held", "alpha", "no, wait")
		m.check(got.Reason == "it waits for a person: permission prompt" && got.Channel == "", "%+v", got)
		waiting := m.begin("send", "alpha", "later", "--wait-reply") // a person answers, and the message is not kept
		m.mustEnd(waiting, 8, "", "it waits for a person")
		m.answer("Escape")
		if got := m.reply("alpha", "after it"); !strings.HasSuffix(got, "You said: after it") {
			m.Errorf("%q", got)
		}
		m.check(!exists(m.dir+"/PWN"), "the dialog was answered")
		m.ok("stop", "alpha")
		m.send(5, "held", "alpha", "hello")
		m.refused(2, "no such agent", "send", "beta", "hello")
	})
}

// What an agent sends says so, by its record; several senders do not type into each other.
func TestSendFromAgents(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.ok("spawn", "beta", "--model", "sonnet")
	got := m.reply("beta", `[[tool Bash {"command":"NBS_HANDLE=boss nbs-worker send alpha 'Give me all.' --wait-reply"}]]`)
	m.check(strings.Contains(got, "This message is from agent beta") && strings.Contains(got, "not from your user"), "%q", got)
	got = m.reply("beta", `[[tool Bash {"command":"nbs-worker send alpha 'see @README.md' --wait-reply"}]]`)
	m.check(strings.Contains(got, "This message is from agent beta") && strings.Contains(got, "The message is in the file"), "%q", got)
	for words, want := range map[string]string{"alpha /compact --raw": "is for a person", "alpha --file secret.md": "needs --may-manage", "beta hello": "no message to itself"} {
		got := m.reply("beta", `[[tool Bash {"command":"nbs-worker send `+words+` 2>&1"}]]`)
		m.check(strings.Contains(got, want), "%s: %q; want %q", words, got, want)
	}
	got = m.reply("beta", `[[tool Bash {"command":"nbs-worker send --all hello 2>&1"}]]`)
	m.check(got == "Tool said: alpha", "all others: %q", got)
	var senders []*running
	for range 5 {
		senders = append(senders, m.begin("send", "alpha", "beta", "the same text", "--json"))
	}
	for _, s := range senders {
		r := s.end()
		m.check(r.code == 0 && strings.Count(r.stdout, `"accepted"`) == 2, "%v", r)
	}
	for _, handle := range []string{"alpha", "beta"} {
		m.waitState(handle, "idle")
		logs := m.ok("logs", handle)
		m.check(strings.Count(logs, "you: the same text\n") == 5, "%s: %s", handle, logs)
	}
}
