package send

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A user who edits with vim's keys, and has Claude drawn for a screen reader in each way that there is, has agents that
// can be interrupted and spoken to, and the question of a start is seen. Where he has given a key another meaning, nothing is
// typed that would stay in the box.
func TestUserOfOtherKeys(t *testing.T) {
	m := eachVersion(t)
	m.Env = append(m.Env, "CLAUDE_AX_SCREEN_READER=1")
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Settings: `{"editorMode":"vim","axScreenReader":true,"env":{"CLAUDE_AX_SCREEN_READER":"1"}}`})
	m.configures("editorMode", "vim") // where 2.1.197 has it
	m.Refused(8, "it asks whether it trusts the folder (trust)", "spawn", "alpha", "--model", "sonnet")
	m.OK("resume", "alpha", "--force", "--trust="+m.World.Project)
	m.Send(0, "accepted", "alpha", "[[delay 1m]] long")
	m.WaitState("alpha", "busy")
	m.Send(0, "held", "alpha", "queued", "--queue")
	m.interrupt("interrupted")
	m.awaitOutbox()
	m.WaitState("alpha", "idle")
	m.mustTypeNothingByOtherKeys()
	m.Refused(4, `Claude has no command "/clea"; it offers "/clear"`, "send", "alpha", "/clea", "--raw")
}

// mustTypeNothingByOtherKeys gives keys another meaning, and takes that back.
func (m *team) mustTypeNothingByOtherKeys() {
	m.Helper()
	m.Send(0, "accepted", "alpha", "[[delay 1m]] long")
	m.WaitState("alpha", "busy")
	keys := filepath.Join(m.World.ConfigDir, "keybindings.json")
	m.Write(keys, `{"bindings":[{"context":"Chat","bindings":{"enter":"chat:newline","meta+enter":"chat:submit","escape":null}}]}`)
	m.Refused(8, keys+`" gives the key escape another meaning in its prompt, "nothing"; nothing was typed`, "interrupt", "alpha")
	m.Write(keys, `{"bindings":[{"context":"Chat","bindings":{"enter":"chat:newline","meta+enter":"chat:submit"}}]}`)
	m.WaitFor("claude to read it again", func() (bool, string) {
		r := m.NBS("interrupt", "alpha")
		return r.Code == 0, r.String()
	})
	m.WaitState("alpha", "idle")
	m.Refused(8, keys+`" gives the key enter another meaning in its prompt, "chat:newline"; nothing was typed`, "send", "alpha", "hello")
	m.Send(0, "held", "alpha", "queued", "--queue")
	m.Must(os.Remove(keys))
	m.OK("resume", "alpha", "--force")
	m.awaitOutbox()
	if got := m.Reply("alpha", "hello"); got != "You said: hello" {
		m.Errorf("%q", got)
	}
}

// configures sets a member of Claude's own configuration file.
func (m *team) configures(name, value string) {
	m.Helper()
	path := filepath.Join(m.World.ConfigDir, ".claude.json")
	text, err := os.ReadFile(path)
	m.Must(err)
	var all map[string]any
	m.Must(json.Unmarshal(text, &all))
	all[name] = value
	m.Write(path, e2e.Encoded(m.Team, all))
}
