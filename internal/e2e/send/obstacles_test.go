package send

import (
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// messages are the files in which texts were handed over.
func (m *team) messages() []string {
	files, _ := filepath.Glob(m.InNbs("messages", "*")) // the pattern is well formed
	return files
}

// What stands in the way of a message holds it, and nothing is typed. A kept one is typed when that has gone, though neither
// hook nor file tells of it: a person leaves copy mode, deletes a draft, answers a dialog with Escape, ends a turn with it.
func TestObstacleGoesUnannounced(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	s := m.Session("alpha")
	pane := "=" + s.TmuxSession + ":"
	keep := func(text, reason string) {
		m.Helper()
		got := m.Send(0, "held", "alpha", text, "--queue")
		m.Check(got.Outbox != "" && strings.Contains(got.Reason, reason), "%+v", got)
	}
	holds := func(text, reason string) {
		m.Helper()
		got := m.Send(8, "held", "alpha", "not kept", "--by-file")
		m.Check(strings.Contains(got.Reason, reason) && got.Channel == "" && got.File == "" && len(m.messages()) == 0, "%+v", got)
		keep(text, reason)
	}
	arrives := func(text string) {
		m.Helper()
		m.awaitOutbox()
		m.WaitState("alpha", "idle")
		all := m.prompts("alpha")
		m.Check(all[len(all)-1] == text, "want %q last, got %q", text, all)
	}
	m.Tmux("copy-mode", "-t", pane)
	holds("after copy mode", "copy mode")
	m.Tmux("send-keys", "-t", pane, "-X", "cancel")
	arrives("after copy mode")

	m.Tmux("send-keys", "-t", pane, "-l", "half a draft")
	m.waitBox("alpha", "half a draft")
	holds("after a draft", "unsent draft")
	m.Tmux("send-keys", "-t", pane, "C-u")
	arrives("after a draft")

	m.Send(0, "accepted", "alpha", `[[tool Bash {"command":"touch PWN","description":"make it"}]]`)
	m.WaitState("alpha", "waiting")
	holds("after a dialog", "it waits for a person: permission prompt")
	m.Refused(8, "waits for a person: permission prompt", "interrupt", "alpha")
	m.answer("Escape")
	arrives("after a dialog")
	m.Check(!e2e.Exists(m.Dir+"/PWN"), "the dialog was answered")

	m.Send(0, "accepted", "alpha", "[[delay 600s]] a long turn")
	m.WaitState("alpha", "busy")
	keep("after a turn", "still working")
	m.OK("interrupt", "alpha")
	arrives("after a turn")

	// What waits while a person's /clear leads to another conversation arrives once, and is known to.
	m.Send(0, "accepted", "alpha", "[[until kept]] busy")
	keep("behind a clear", "")
	m.TypeLine(s, "/clear")
	m.API.Release("kept")
	m.awaitOutbox()
	m.WaitState("alpha", "idle")
	all, said := m.Outbox(), m.prompts("alpha")
	m.Check(len(all) == 0 && strings.Count(strings.Join(said, "\n"), "behind a clear") <= 1, "%+v, %q", all, said)
}

// Where hooks are turned off, nothing says that an agent has started, or that a turn has ended: its messages are typed.
func TestOutboxWithoutHooks(t *testing.T) {
	m := standIn(t, "no-hooks")
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("stop", "alpha")
	m.Send(0, "held", "alpha", "after the start", "--queue")
	m.OK("resume", "alpha")
	m.awaitOutbox()
	m.Send(0, "accepted", "alpha", "[[until kept]] busy")
	m.Send(0, "held", "alpha", "after the turn", "--queue")
	m.API.Release("kept")
	m.awaitOutbox()
	m.WaitState("alpha", "idle")
	all := m.prompts("alpha")
	m.Check(len(all) == 3 && all[0] == "after the start" && all[2] == "after the turn", "%q", all)
}
