package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// interruption is what interrupt --json tells.
type interruption struct {
	Outcome, Prompt string
	Left            bool
}

func (m *team) interrupt(want string) interruption {
	m.Helper()
	var got interruption
	if err := json.Unmarshal([]byte(m.ok("interrupt", "alpha", "--json")), &got); err != nil || got.Outcome != want || got.Left {
		m.Errorf("interrupt: %v, %+v; want %s", err, got, want)
	}
	return got
}

func TestInterrupt(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
		m.interrupt("idle")
		m.send(0, "accepted", "alpha", "[[slow 1s]] one two three four five six seven")
		m.waitFor("an answer that streams", func() (bool, string) {
			screen := m.ok("screen", "alpha")
			return strings.Contains(screen, "\n●"), screen
		})
		m.interrupt("interrupted")
		m.interrupt("idle")
		// A prompt to which nothing was answered is given back, and does not stay in the box.
		m.send(0, "accepted", "alpha", "[[delay 1m]] two\nlines")
		if got := m.interrupt("interrupted"); got.Prompt != "[[delay 1m]] two\nlines" {
			m.Errorf("given back: %+v", got)
		}
		m.check(strings.Contains(m.ok("events", "alpha", "--json"), "nothing was answered yet to: [[delay 1m]] two"), "the journal does not keep the prompt")
		if got := m.reply("alpha", "after it"); !strings.HasSuffix(got, "You said: after it") {
			m.Errorf("%q", got)
		}
		// Nobody answers a dialog, and nobody types where a person looks back.
		m.send(0, "accepted", "alpha", `[[tool Bash {"command":"touch PWN; tail -f /dev/null","description":"make it"}]]`)
		m.waitState("alpha", "waiting")
		m.refused(8, "waits for a person: permission prompt", "interrupt", "alpha")
		m.answer("Enter")
		m.waitFor("the tool runs", func() (bool, string) { _, err := os.Stat(m.dir + "/PWN"); return err == nil, "no PWN" })
		pane := "=" + m.session("alpha").TmuxSession + ":"
		m.tmux("copy-mode", "-t", pane)
		m.refused(8, "takes no keys", "interrupt", "alpha")
		m.tmux("send-keys", "-t", pane, "-X", "cancel")
		m.send(0, "held", "alpha", "kept", "--queue")
		m.waitFor("the launcher's deliverer", func() (bool, string) { return len(m.deliverers()) > 0, "none" })
		m.killDeliverers()         // it would give up in a minute
		m.interrupt("interrupted") // of which no hook has the launcher run another one
		if all := m.outbox(); len(all) != 0 {
			m.Errorf("interrupted, and %+v", all)
		}
		m.ok("stop", "alpha")
		m.refused(5, "does not run", "interrupt", "alpha")
		m.refused(2, "no such agent", "interrupt", "beta")
	})
}

func TestCompact(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet")
		compact := func(code int, args ...string) (got struct {
			Before, After *struct{ Tokens int }
			Floor         bool
			Reason        string
		}) {
			m.Helper()
			r := m.nbs(append([]string{"compact", "--json", "alpha"}, args...)...)
			if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != code {
				m.Fatalf("compact: %v, %s", err, r)
			}
			return got
		}
		m.reply("alpha", "hello")
		m.reply("alpha", "Remember 42. [[usage 120000]]")
		before := m.session("alpha").SessionID
		if got := compact(0, "Keep", "the number."); got.Before == nil || got.After == nil || got.Before.Tokens < 120_000 || got.After.Tokens > 12_000 || got.Floor {
			m.Errorf("%+v", got)
		}
		if after := m.session("alpha").SessionID; after != before {
			m.Errorf("the conversation was %s, and is %s", before, after)
		}
		m.reply("alpha", "hello [[usage 50]]")
		for range 2 { // there is little, then nothing more
			if got := compact(1); !got.Floor {
				m.Errorf("%+v", got)
			}
		}
		m.reply("alpha", "hello")
		if got := compact(1, "[[error 400]]"); got.Floor || !strings.Contains(got.Reason, "API Error: 400") {
			m.Errorf("%+v", got)
		}
		going := m.begin("compact", "alpha", "[[delay 1m]]")
		m.waitState("alpha", "busy")
		m.interrupt("interrupted")
		m.mustEnd(going, 1, "", "somebody interrupted it")
		m.ok("stop", "alpha")
		m.refused(5, "does not run", "compact", "alpha")
	})
}
