package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// kept is what outbox list --json tells of a message.
type kept struct {
	ID, State, Text, Reason string
	Allowed                 bool
}

func (m *team) outbox() (all []kept) {
	m.Helper()
	m.must(json.Unmarshal([]byte(m.ok("outbox", "list", "--json")), &all))
	return all
}

// awaitOutbox waits until nothing is to be delivered any more.
func (m *team) awaitOutbox() {
	m.Helper()
	m.waitFor("the outbox to be empty", func() (bool, string) {
		text := m.ok("outbox", "list")
		return !strings.Contains(text, "\twaiting\t") && !strings.Contains(text, "\tsending\t"), text
	})
}

// said are the messages in the conversation of an agent, in their order.
func (m *team) prompts(handle string) (all []string) {
	m.Helper()
	for line := range strings.Lines(m.ok("logs", handle, "--json")) {
		var message struct{ Who, Text string }
		m.must(json.Unmarshal([]byte(line), &message))
		if message.Who == "you" {
			all = append(all, message.Text)
		}
	}
	return all
}

// What cannot be submitted is kept, and typed by the launcher when the agent is ready, in its order.
func TestOutbox(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
		queue := func(text string) {
			m.Helper()
			got := m.send(0, "held", "alpha", text, "--queue")
			m.check(got.Outbox != "" && got.Reason != "" && got.Channel == "", "%+v", got)
		}
		got := m.send(0, "accepted", "alpha", "at once", "--queue")
		m.check(got.Outbox == "" && got.UUID != "", "%+v", got)
		m.send(0, "accepted", "alpha", "[[delay 3s]] busy")
		queue("one")
		queue("two\nlines, and " + strings.Repeat("long ", 200))
		m.awaitOutbox() // by the hook of the end of the turn
		m.send(0, "accepted", "alpha", "[[delay 3s]] busy again")
		queue("before")
		m.send(0, "accepted", "alpha", "after") // others are waited for, and come first
		m.ok("stop", "alpha")
		queue("three")
		m.send(5, "held", "alpha", "not kept")
		m.ok("resume", "alpha")
		m.awaitOutbox() // by the hook of the start
		m.waitState("alpha", "idle")
		m.send(0, "accepted", "alpha", `[[tool Bash {"command":"touch PWN","description":"make it"}]]`)
		m.waitState("alpha", "waiting")
		queue("four")
		m.answer("Escape")
		m.waitState("alpha", "idle")
		m.ok("send", "alpha", "five", "--queue") // no hook tells of an Escape; what is next in the line does
		m.awaitOutbox()
		if got := m.prompts("alpha"); len(got) < 11 || fmt.Sprint(got[:3]) != "[at once [[delay 3s]] busy one]" ||
			!strings.Contains(got[3], ".nbs/messages/") || fmt.Sprint(got[4:8]) != "[[[delay 3s]] busy again before after three]" || got[len(got)-2] != "four" || got[len(got)-1] != "five" {
			m.Errorf("%q", got)
		}
		m.check(!exists(m.dir+"/PWN"), "the dialog was answered")
	})
}

// A person drops what is kept; what is dropped with its agent is in the journal; and what somebody
// else has put there is never typed.
func TestOutboxIsThePersons(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.ok("spawn", "beta", "--model", "sonnet")
	m.ok("stop", "alpha")
	m.send(0, "held", "alpha", "mine", "--queue")
	m.send(0, "held", "alpha", "not needed", "--queue")
	id := m.outbox()[1].ID
	for _, verb := range []string{"drop", "retry"} {
		got := m.reply("beta", `[[tool Bash {"command":"nbs-worker outbox `+verb+` alpha `+id+` 2>&1"}]]`)
		m.check(strings.Contains(got, "is for a person"), "%s: %q", verb, got)
	}
	got := m.reply("beta", `[[tool Bash {"command":"nbs-worker send alpha 'Give me all.' --queue --json"}]]`)
	m.check(strings.Contains(got, `"outbox"`), "%q", got)
	m.ok("outbox", "drop", "alpha", id[:8])
	m.refused(2, "no message", "outbox", "drop", "alpha", id)
	files, _ := filepath.Glob(m.inNbs("outbox", "alpha.*"))
	text, err := os.ReadFile(files[0])
	m.must(err)
	planted := strings.Replace(string(text), `"mine"`, `"rm -rf"`, 1)
	m.must(os.WriteFile(m.inNbs("outbox", "alpha.000000009.json"), []byte(planted), 0o600))
	m.ok("resume", "alpha")
	m.waitFor("what is mine to be typed", func() (bool, string) { all := m.outbox(); return len(all) == 1, fmt.Sprint(all) })
	if got := m.outbox()[0]; got.Text != "rm -rf" || got.Allowed {
		m.Errorf("%+v", got)
	}
	m.refused(8, "nobody vouches", "outbox", "retry", "alpha", m.outbox()[0].ID)
	m.waitState("alpha", "idle")
	if got := m.prompts("alpha"); len(got) != 2 || got[0] != "mine" || !strings.Contains(got[1], "This message is from agent beta") || !strings.HasSuffix(got[1], "Give me all.") {
		m.Errorf("%q", got)
	}
	r := m.nbs("dismiss", "alpha")
	m.check(r.code == 0 && strings.Contains(r.stderr, "1 message of its outbox dropped"), "%v", r)
	events := m.ok("events", "alpha")
	m.check(strings.Contains(events, "rm -rf") && strings.Count(events, "not needed") == 1, "%s", events)
	m.ok("spawn", "alpha", "--model", "sonnet")
	all := m.outbox()
	m.check(len(all) == 0, "%+v", all)
}

// A deliverer that is killed in any moment has its message neither lost nor typed twice: the next one
// tells by the transcript what became of it.
func TestDelivererIsKilled(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.ok("stop", "alpha")
	const n = 10
	for i := range n {
		m.send(0, "held", "alpha", fmt.Sprintf("message <<%d>>", i), "--queue")
	}
	m.ok("resume", "alpha")
	for i := range 4 * n {
		m.killDeliverers() // that of the launcher, too
		r := m.begin("outbox", "deliver", "alpha")
		kill := time.AfterFunc(time.Duration(20+i*17%230)*time.Millisecond, func() { _ = syscall.Kill(r.Process.Pid, syscall.SIGKILL) })
		r.end()
		kill.Stop()
	}
	m.ok("outbox", "deliver", "alpha")
	m.awaitOutbox()
	m.waitState("alpha", "idle")
	said, unknown := strings.Join(m.prompts("alpha"), "\n"), 0
	left := fmt.Sprint(m.outbox())
	for i := range n {
		mark := fmt.Sprintf("message <<%d>>", i)
		isUnknown := strings.Contains(left, mark)
		if isUnknown {
			unknown++
		}
		times := strings.Count(said, mark)
		m.check(times <= 1 && (times != 0 || isUnknown), "%s stands %d times in the transcript; in the outbox: %t", mark, times, isUnknown)
	}
	m.Logf("unknown: %d of %d", unknown, n)
}

// A text whose receipt was unknown is looked for when it is sent again, and typed again only when that
// is asked for.
func TestUnknownIsNotSentAgain(t *testing.T) {
	m := real(t)
	hook := `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"test ! -e REFUSE || exit 2; test ! -e SLOW || sleep 12"}]}]}}`
	m.must(os.MkdirAll(filepath.Join(m.dir, ".claude"), 0o700))
	m.must(os.WriteFile(filepath.Join(m.dir, ".claude", "settings.json"), []byte(hook), 0o600))
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.reply("alpha", "hello")
	m.must(os.WriteFile(filepath.Join(m.dir, "REFUSE"), nil, 0o600))
	m.send(3, "unknown", "alpha", "refused")
	m.must(os.Remove(filepath.Join(m.dir, "REFUSE")))
	got := m.send(3, "unknown", "alpha", "refused")
	m.check(strings.Contains(got.Reason, "it is not typed again"), "%+v", got)
	all := m.outbox()
	m.check(len(all) == 1 && all[0].State == "unknown", "%+v", all)
	m.send(0, "accepted", "alpha", "refused", "--force")
	m.must(os.WriteFile(filepath.Join(m.dir, "SLOW"), nil, 0o600))
	m.send(3, "unknown", "alpha", "late")
	m.waitState("alpha", "idle")
	got = m.send(0, "accepted", "alpha", "late")
	m.check(got.UUID != "", "%+v", got)
	if all, said := m.outbox(), m.prompts("alpha"); len(all) != 0 || fmt.Sprint(said) != "[hello refused late]" {
		m.Errorf("%+v, %q", all, said)
	}
}
