package send

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A kept message is typed when what was in its way has gone, though neither hook nor file tells of that: a person
// answers a dialog with Escape, ends a turn with it, leaves copy mode, deletes a draft.
func TestObstacleGoesUnannounced(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	m.Send(0, "accepted", "alpha", "[[delay 1ms]] begin")
	m.WaitState("alpha", "idle")
	pane := "=" + m.Session("alpha").TmuxSession + ":"
	keep := func(text, reason string) {
		m.Helper()
		got := m.Send(0, "held", "alpha", text, "--queue")
		m.Check(got.Outbox != "" && strings.Contains(got.Reason, reason), "%+v", got)
	}
	arrives := func(text string) {
		m.Helper()
		m.awaitOutbox()
		m.WaitState("alpha", "idle")
		all := m.prompts("alpha")
		m.Check(all[len(all)-1] == text, "want %q last, got %q", text, all)
	}
	m.Send(0, "accepted", "alpha", `[[tool Bash {"command":"touch PWN","description":"make it"}]]`)
	m.WaitState("alpha", "waiting")
	keep("after a dialog", "waits for a person")
	m.answer("Escape")
	arrives("after a dialog")

	m.Send(0, "accepted", "alpha", "[[delay 600s]] a long turn")
	m.WaitState("alpha", "busy")
	keep("after a turn", "still working")
	m.OK("interrupt", "alpha")
	arrives("after a turn")

	m.Tmux("copy-mode", "-t", pane)
	keep("after copy mode", "")
	m.Tmux("send-keys", "-t", pane, "-X", "cancel")
	arrives("after copy mode")

	m.Tmux("send-keys", "-t", pane, "-l", "half a draft")
	m.WaitFor("the draft is drawn", func() (bool, string) {
		shown := m.pane(pane)
		return strings.Contains(shown, "half a draft"), shown
	})
	keep("after a draft", "draft")
	m.Tmux("send-keys", "-t", pane, "C-u")
	arrives("after a draft")
}

// Where hooks are turned off, nothing says that an agent has started, or that a turn has ended: its messages are typed.
func TestOutboxWithoutHooks(t *testing.T) {
	m := eachVersion(t)
	m.Must(os.MkdirAll(filepath.Join(m.Dir, ".claude"), 0o700))
	m.Must(os.WriteFile(filepath.Join(m.Dir, ".claude", "settings.json"), []byte(`{"disableAllHooks":true}`), 0o600))
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("stop", "alpha")
	m.Send(0, "held", "alpha", "after the start", "--queue")
	m.OK("resume", "alpha")
	m.awaitOutbox()
	m.Send(0, "accepted", "alpha", "[[delay 3s]] busy")
	m.Send(0, "held", "alpha", "after the turn", "--queue")
	m.awaitOutbox()
	m.WaitState("alpha", "idle")
	all := m.prompts("alpha")
	m.Check(len(all) == 3 && all[0] == "after the start" && all[2] == "after the turn", "%q", all)
}
