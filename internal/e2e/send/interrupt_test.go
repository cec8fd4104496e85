package send

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// interruption is what interrupt --json tells.
type interruption struct {
	Outcome, Prompt string
	Left            bool
}

func (m *team) interrupt(want string) interruption {
	m.Helper()
	var got interruption
	if err := e2e.One(m.OK("interrupt", "alpha", "--json"), &got); err != nil || got.Outcome != want || got.Left {
		m.Errorf("interrupt: %v, %+v; want %s", err, got, want)
	}
	return got
}

func TestInterrupt(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	m.interrupt("idle")
	m.Send(0, "accepted", "alpha", "[[slow 1s]] one two three four five six seven")
	m.WaitFor("an answer that streams", func() (bool, string) {
		screen := m.pane("=" + m.Record("alpha")["tmux_session"].(string) + ":")
		return strings.Contains(screen, "\n●"), screen
	})
	m.interrupt("interrupted")
	m.interrupt("idle")
	// A prompt to which nothing was answered is given back, and does not stay in the box.
	m.Send(0, "accepted", "alpha", "[[delay 1m]] two\nlines")
	m.WaitAsked("[[delay 1m]] two\nlines")
	if got := m.interrupt("interrupted"); got.Prompt != "[[delay 1m]] two\nlines" {
		m.Errorf("given back: %+v", got)
	}
	m.Check(strings.Contains(m.OK("events", "alpha", "--json"), "nothing was answered yet to: [[delay 1m]] two"), "the journal does not keep the prompt")
	if got := m.Reply("alpha", "after it"); !strings.HasSuffix(got, "You said: after it") {
		m.Errorf("%q", got)
	}
	// Nobody answers a dialog, and nobody types where a person looks back.
	m.Send(0, "accepted", "alpha", `[[tool Bash {"command":"touch PWN; tail -f /dev/null","description":"make it"}]]`)
	m.WaitState("alpha", "waiting")
	m.Refused(8, "waits for a person: permission prompt", "interrupt", "alpha")
	m.answer("Enter")
	m.WaitFor("the tool runs", func() (bool, string) { _, err := os.Stat(m.Dir + "/PWN"); return err == nil, "no PWN" })
	pane := "=" + m.Session("alpha").TmuxSession + ":"
	m.Tmux("copy-mode", "-t", pane)
	m.Refused(8, "copy mode", "interrupt", "alpha")
	m.Tmux("send-keys", "-t", pane, "-X", "cancel")
	m.Send(0, "held", "alpha", "kept", "--queue")
	m.WaitFor("the launcher's deliverer", func() (bool, string) { return len(m.Deliverers()) > 0, "none" })
	m.KillDeliverers()         // it would give up in a minute
	m.interrupt("interrupted") // of which no hook has the launcher run another one
	if all := m.Outbox(); len(all) != 0 {
		m.Errorf("interrupted, and %+v", all)
	}
	m.OK("stop", "alpha")
	m.Refused(5, "does not run", "interrupt", "alpha")
	m.Refused(2, "no such agent", "interrupt", "beta")
}

// A screen that is too low to show the prompt of the turn does not make a person's draft of it: messages go on.
func TestInterruptOnALowScreen(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.Reply("alpha", "hello")
	pane := "=" + m.Session("alpha").TmuxSession + ":"
	const prompt = "[[delay 1m]] two\nlines"
	m.Send(0, "accepted", "alpha", prompt)
	m.WaitAsked(prompt)
	m.Tmux("resize-window", "-t", pane, "-x", "60", "-y", "8")
	m.WaitFor("the box is shown, and no prompt above it", func() (bool, string) {
		shown := m.pane(pane)
		return strings.Contains(shown, "\n"+strings.Repeat("─", 60)+"\n❯ \n") && !strings.Contains(shown, "two"), shown
	})
	got := m.interrupt("interrupted")
	m.Check(got.Prompt == prompt, "%+v", got)
	m.waitBox("alpha", "")
	m.Send(0, "accepted", "alpha", "after it")
	r := m.NBS("logs", "alpha")
	m.Check(!strings.Contains(r.Stderr, "two claudes"), "one claude was there: %s", r)
}

func TestCompact(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	compact := func(code int, args ...string) (got struct {
		Before, After *struct{ Tokens int }
		Floor         bool
		Reason        string
	}) {
		m.Helper()
		r := m.NBS(append([]string{"compact", "--json", "alpha"}, args...)...)
		if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || r.Code != code {
			m.Fatalf("compact: %v, %s", err, r)
		}
		return got
	}
	m.Reply("alpha", "hello")
	m.Reply("alpha", "Remember 42. [[usage 120000]]")
	before := m.Session("alpha").SessionID
	if got := compact(0, "Keep", "the number."); got.Before == nil || got.After == nil || got.Before.Tokens < 120_000 || got.After.Tokens > 12_000 || got.Floor {
		m.Errorf("%+v", got)
	}
	if after := m.Session("alpha").SessionID; after != before {
		m.Errorf("the conversation was %s, and is %s", before, after)
	}
	m.Reply("alpha", "hello [[usage 50]]")
	for range 2 { // there is little, then nothing more
		if got := compact(1); !got.Floor {
			m.Errorf("%+v", got)
		}
	}
	m.Reply("alpha", "hello")
	if got := compact(1, "[[error 400]]"); got.Floor || !strings.Contains(got.Reason, "API Error: 400") {
		m.Errorf("%+v", got)
	}
	going := m.Begin("compact", "alpha", "[[delay 1m]]")
	m.WaitSession("alpha", "is compacting", func(s e2e.Session) bool { return s.State == "busy" && s.Cause == "compacting" })
	m.interrupt("interrupted")
	m.mustEnd(going, 1, "", "a person interrupted it")
	m.OK("stop", "alpha")
	m.Refused(5, "does not run", "compact", "alpha")
}
