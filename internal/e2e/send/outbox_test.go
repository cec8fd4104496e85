package send

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// kept are the files of outboxes, and when they were written.
func (m *team) kept() string {
	files, _ := os.ReadDir(m.InNbs("outbox")) // not there: nothing is kept
	var all strings.Builder
	for _, file := range files {
		if info, err := file.Info(); err == nil {
			fmt.Fprintln(&all, file.Name(), info.ModTime().UnixNano())
		}
	}
	return all.String()
}

// awaitOutbox waits until nothing is to be delivered any more.
func (m *team) awaitOutbox() {
	m.Helper()
	m.WaitNews("the outbox to be empty", m.kept, func() (bool, string) {
		text := m.OK("outbox", "list")
		return !strings.Contains(text, "\twaiting\t") && !strings.Contains(text, "\tsending\t"), text
	})
}

// said are the messages in the conversation of an agent, in their order.
func (m *team) prompts(handle string) (all []string) {
	m.Helper()
	for line := range strings.Lines(m.OK("logs", handle, "--json")) {
		var message struct{ Who, Text string }
		m.Must(json.Unmarshal([]byte(line), &message))
		if message.Who == "you" {
			all = append(all, message.Text)
		}
	}
	return all
}

// What cannot be submitted is kept, and typed by the launcher when the agent is ready, in its order.
func TestOutbox(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	queue := func(text string) {
		m.Helper()
		got := m.Send(0, "held", "alpha", text, "--queue")
		m.Check(got.Outbox != "" && got.Reason != "" && got.Channel == "", "%+v", got)
	}
	got := m.Send(0, "accepted", "alpha", "at once", "--queue")
	m.Check(got.Outbox == "" && got.UUID != "", "%+v", got)
	m.Send(0, "accepted", "alpha", "[[until two]] busy")
	queue("one")
	queue("two\nlines, and " + strings.Repeat("long ", 200))
	m.API.Release("two")
	m.awaitOutbox() // by the hook of the end of the turn
	m.Send(0, "accepted", "alpha", "[[until after]] busy again")
	queue("before")
	after := m.Begin("send", "alpha", "after") // others are waited for, and come first
	m.API.Release("after")
	m.Check(after.End().Code == 0, "a send beside the outbox failed")
	m.OK("stop", "alpha")
	queue("three")
	m.Send(5, "held", "alpha", "not kept")
	m.OK("resume", "alpha")
	m.awaitOutbox() // by the hook of the start
	m.WaitState("alpha", "idle")
	m.Send(0, "accepted", "alpha", `[[tool Bash {"command":"touch PWN","description":"make it"}]]`)
	m.WaitState("alpha", "waiting")
	queue("four")
	m.answer("Escape")
	m.WaitState("alpha", "idle")
	m.OK("send", "alpha", "five", "--queue") // which brings the one before it, too
	m.awaitOutbox()
	if got := m.prompts("alpha"); len(got) < 11 || fmt.Sprint(got[:3]) != "[at once [[until two]] busy one]" ||
		!strings.Contains(got[3], ".nbs/messages/") || fmt.Sprint(got[4:8]) != "[[[until after]] busy again before after three]" || got[len(got)-2] != "four" || got[len(got)-1] != "five" {
		m.Errorf("%q", got)
	}
	m.Check(!e2e.Exists(m.Dir+"/PWN"), "the dialog was answered")
}

// A person drops what is kept; what is dropped with its agent is in the journal; and what somebody
// else has put there is never typed.
func TestOutboxIsThePersons(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("spawn", "beta", "--model", "sonnet")
	m.OK("stop", "alpha")
	m.Send(0, "held", "alpha", "mine", "--queue")
	m.Send(0, "held", "alpha", "not needed", "--queue")
	id := m.Outbox()[1].ID
	for _, verb := range []string{"drop", "retry"} {
		got := m.Reply("beta", `[[tool Bash {"command":"nbs-worker outbox `+verb+` alpha `+id+` 2>&1"}]]`)
		m.Check(strings.Contains(got, "only a person may"), "%s: %q", verb, got)
	}
	got := m.Reply("beta", `[[tool Bash {"command":"nbs-worker send alpha 'Give me all.' --queue --json"}]]`)
	m.Check(strings.Contains(got, `"outbox"`), "%q", got)
	m.OK("outbox", "drop", "alpha", id[:8])
	m.Refused(2, "no message", "outbox", "drop", "alpha", id)
	files, _ := filepath.Glob(m.InNbs("outbox", "alpha.*"))
	text, err := os.ReadFile(files[0])
	m.Must(err)
	planted := strings.Replace(string(text), `"mine"`, `"rm -rf"`, 1)
	m.Must(os.WriteFile(m.InNbs("outbox", "alpha.000000009.json"), []byte(planted), 0o600))
	m.OK("resume", "alpha")
	m.WaitNews("what is mine to be typed", m.kept, func() (bool, string) { all := m.Outbox(); return len(all) == 1, fmt.Sprint(all) })
	if got := m.Outbox()[0]; got.Text != "rm -rf" || got.Allowed {
		m.Errorf("%+v", got)
	}
	m.Refused(8, "the message is not allowed", "outbox", "retry", "alpha", m.Outbox()[0].ID)
	m.WaitState("alpha", "idle")
	if got := m.prompts("alpha"); len(got) != 2 || got[0] != "mine" || !strings.Contains(got[1], "This message is from agent beta") || !strings.HasSuffix(got[1], "Give me all.") {
		m.Errorf("%q", got)
	}
	r := m.NBS("dismiss", "alpha")
	m.Check(r.Code == 0 && strings.Contains(r.Stderr, "dropped 1 message from its outbox"), "%v", r)
	events := m.OK("events", "alpha")
	m.Check(strings.Contains(events, "rm -rf") && strings.Count(events, "not needed") == 1, "%s", events)
	m.OK("spawn", "alpha", "--model", "sonnet")
	all := m.Outbox()
	m.Check(len(all) == 0, "%+v", all)
}

// A deliverer that is killed in any moment has its message neither lost nor typed twice: the next one
// tells by the transcript what became of it.
func TestDelivererIsKilled(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("stop", "alpha")
	const n = 10
	for i := range n {
		m.Send(0, "held", "alpha", fmt.Sprintf("message <<%d>>", i), "--queue")
	}
	m.OK("resume", "alpha")
	for i := range 4 * n {
		m.KillDeliverers() // that of the launcher, too
		r := m.Begin("outbox", "deliver", "alpha")
		kill := time.AfterFunc(time.Duration(20+i*17%230)*time.Millisecond, func() { _ = syscall.Kill(r.Process.Pid, syscall.SIGKILL) })
		r.End()
		kill.Stop()
	}
	m.OK("outbox", "deliver", "alpha")
	m.awaitOutbox()
	m.WaitState("alpha", "idle")
	said, unknown := strings.Join(m.prompts("alpha"), "\n"), 0
	left := fmt.Sprint(m.Outbox())
	for i := range n {
		mark := fmt.Sprintf("message <<%d>>", i)
		isUnknown := strings.Contains(left, mark)
		if isUnknown {
			unknown++
		}
		times := strings.Count(said, mark)
		m.Check(times <= 1 && (times != 0 || isUnknown), "%s stands %d times in the transcript; in the outbox: %t", mark, times, isUnknown)
	}
	m.Logf("unknown: %d of %d", unknown, n)
}

// A text that a hook of the user's refuses is no draft for ever: the next message takes it away. One whose receipt was unknown
// is looked for when it is sent again, and typed again only when that is asked for.
func TestTextThatAHookRefuses(t *testing.T) {
	m := eachVersion(t)
	m.UserSettings(`{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"test ! -e REFUSE || { echo no >&2; exit 2; }; while test -e SLOW; do touch RUNS; sleep 0.1; done"}]}]}}`)
	refuse, slow := filepath.Join(m.Dir, "REFUSE"), filepath.Join(m.Dir, "SLOW")
	m.Write(refuse, "")
	m.Refused(8, "a hook has refused the prompt", "spawn", "alpha", "--model", "sonnet", "--prompt", "please refuse this\nin two lines")
	if !e2e.OnOldest() { // which leaves nothing in the prompt
		m.waitBox("alpha", "please refuse this in two lines")
		m.MustSay(m.OK("triage", "alpha"), "its prompt has contained an unsent message of nbs-worker since")
	}
	m.Must(os.Remove(refuse))
	m.Send(0, "accepted", "alpha", "hello")
	m.Write(refuse, "")
	got := m.Send(3, "unknown", "alpha", "refused")
	m.Check(strings.Contains(got.Reason, "a hook of the agent's has refused it"), "%+v", got)
	m.Must(os.Remove(refuse))
	got = m.Send(3, "unknown", "alpha", "refused")
	m.Check(strings.Contains(got.Reason, "it is not typed again"), "%+v", got)
	all := m.Outbox()
	m.Check(len(all) == 1 && all[0].State == "unknown", "%+v", all)
	m.Send(0, "accepted", "alpha", "refused", "--force")

	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		text := "late, " + signal.String()
		m.Write(slow, "")
		late := m.Begin("send", "alpha", text)
		m.WaitFor("the hook runs", func() (bool, string) { return e2e.Exists(filepath.Join(m.Dir, "RUNS")), "" })
		m.Kill(late.Process.Pid, signal)
		r := late.End()
		m.Check(signal == syscall.SIGKILL || r.Code == 130 && r.Stdout == "alpha\n", "%s", r)
		m.Must(os.Remove(slow))
		m.MustBeWritten(m.Session("alpha").SessionID, "You said: "+text)
		m.WaitState("alpha", "idle")
		m.Must(os.Remove(filepath.Join(m.Dir, "RUNS")))
		got = m.Send(0, "accepted", "alpha", text)
		m.Check(got.UUID != "", "%+v", got)
	}
	m.waitBox("alpha", "")
	if all, said := m.Outbox(), m.prompts("alpha"); len(all) != 0 || fmt.Sprint(said) != "[hello refused late, interrupt late, killed]" {
		m.Errorf("%+v, %q", all, said)
	}
}
