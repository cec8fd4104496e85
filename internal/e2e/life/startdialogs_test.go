package life

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// startDialogs are what makes claude ask at its start, besides a first run; how spawn is called, and what it must say. Other
// forms of them are among the screens of internal/claude/screen.
var startDialogs = map[string]struct {
	prepare func(m *team)
	args    []string
	says    []string
	cause   string
	newer   bool
}{
	"a settings file that is no JSON": {
		prepare: func(m *team) { m.settings(`{"model": 5,`) },
		says:    []string{"it asks what to do about an error in a settings file (settings)", "\n  Settings Error\n", "[Fix with Claude / Exit and fix manually / Continue without these settings]"},
		cause:   "settings dialog",
	},
	"a server of the project": {
		prepare: func(m *team) {
			m.Write(filepath.Join(m.World.Project, ".mcp.json"), `{"mcpServers":{"lab":{"command":"true","args":[]}}}`)
		},
		args:  []string{"--permission-mode", "acceptEdits"},
		says:  []string{"whether to use an MCP server of the project (mcp-server)", "New MCP server found in this project: lab", "[Use this MCP server / "},
		cause: "mcp-server dialog",
	},
	"a folder of --add-dir": { // 2.1.197 does not ask
		newer:   true,
		prepare: func(*team) {},
		args:    []string{"--", "--add-dir", "/"},
		says:    []string{"it asks whether it trusts a folder of --add-dir (add-dir)"},
		cause:   "add-dir dialog",
	},
	"a CLAUDE.md that imports": {
		prepare: func(m *team) {
			outside := filepath.Join(m.World.Root, "outside.md")
			m.Write(outside, "hello\n")
			m.Write(filepath.Join(m.World.Project, "CLAUDE.md"), "see @"+outside+"\n")
		},
		says:  []string{"whether CLAUDE.md may import files from outside the project (imports)", "No, disable external imports"},
		cause: "imports dialog",
	},
	"a configuration that is cut short": {
		prepare: func(m *team) {
			m.Write(filepath.Join(m.World.ConfigDir, ".claude.json"), `{"hasCompletedOnboarding": true, "pro`)
		},
		says:  []string{"what to do about its configuration, which cannot be read (configuration)", "\n  Configuration error\n", "[Exit and fix manually / Reset "},
		cause: "configuration dialog",
	},
}

func (m *team) settings(text string) {
	rig.Config(m, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Project}, Settings: text})
}

// Whatever claude asks before it is ready, a start ends at once with the question.
func TestAnyDialogAtAStartIsHeld(t *testing.T) {
	t.Parallel()
	for name, c := range startDialogs {
		if c.newer && e2e.OnOldest() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m := eachVersion(t)
			c.prepare(m)
			began := time.Now()
			r := m.NBS(append([]string{"spawn", "alpha", "--timeout", "10m"}, c.args...)...)
			m.Check(r.Code == 8 && !strings.Contains(r.Stderr, "check that it is Claude Code") && !strings.Contains(r.Stderr, "--trust"), "after %s: %v", time.Since(began), r)
			m.MustSay(r.Stderr, append(c.says, "hint: answer it in its terminal: nbs-worker attach alpha")...)
			s := m.Session("alpha")
			m.Check(s.State == "waiting" && s.Cause == c.cause, "%+v", s)
			m.OK("stop", "alpha")
			m.Check(e2e.Dead(s.PID), "it was left running")
		})
	}
}
