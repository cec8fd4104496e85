package skill

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// page returns the description of the page, and its body.
func (m *team) page() (description, body string) {
	m.Helper()
	head, body, _ := strings.Cut(m.OK("skill", "show"), "\n---\n\n")
	found := regexp.MustCompile(`(?m)^description: "(.*)"$`).FindStringSubmatch(head)
	m.Check(found != nil, "no description: %s", head)
	return found[1], body
}

// claude runs Claude Code's own command.
func (m *team) claude(args ...string) string {
	m.Helper()
	cmd := exec.Command(m.Variable("NBS_CLAUDE"), args...)
	cmd.Dir, cmd.Env = m.Dir, m.Env
	return m.MustRun(cmd)
}

// finds checks that an agent's claude tells the model of the skill, and gives it the page when it asks for it. It returns
// what the model gets.
func (m *team) finds(handle, skill string) string {
	m.Helper()
	description, body := m.page()
	got := m.uses(handle, "Skill", map[string]string{"skill": skill})
	m.Check(!got.failed && strings.Contains(got.beside, strings.TrimSpace(body)), "%s is told %+v; want the page\n%s", handle, got, body)
	m.Check(m.offered(m.Session(handle).SessionID, skill, description), "%s is not told that there is %s", handle, skill)
	return got.beside
}

// Claude finds the skill that is installed for the user; as a plugin that is named; and as a plugin that is installed from
// its folder. What is removed is not found.
func TestClaudeFindsTheSkill(t *testing.T) {
	m := eachVersion(t)
	m.OK("skill", "install", "--user")
	m.OK("spawn", "ofuser", "--model", "sonnet")
	m.finds("ofuser", "nbs-worker")
	m.OK("skill", "remove", "--user")

	plugin := filepath.Join(m.World.Root, "plugin")
	m.OK("skill", "install", "--plugin", plugin)
	for _, part := range []string{"", ".claude-plugin/plugin.json"} {
		said := m.claude("plugin", "validate", filepath.Join(plugin, part))
		m.Check(strings.Contains(said, "Validation passed") && !strings.Contains(said, "with warnings"), "validate %s: %s", part, said)
	}
	m.OK("spawn", "named", "--model", "sonnet", "--", "--plugin-dir", plugin)
	m.finds("named", "nbs-worker:nbs-worker")
	description, _ := m.page()
	m.Check(!m.offered(m.Session("named").SessionID, "nbs-worker", description), "the skill that was removed is found")

	m.claude("plugin", "marketplace", "add", plugin)
	m.claude("plugin", "install", "nbs-worker@nbs-worker")
	m.OK("spawn", "installed", "--model", "sonnet")
	m.finds("installed", "nbs-worker:nbs-worker")
}
