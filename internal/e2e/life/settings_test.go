package life

import (
	"os"
	"testing"
)

// The settings that a person gives an agent add to ours: its hooks run beside ours, at each start.
func TestSettingsOfAnAgent(t *testing.T) {
	m := eachVersion(t)
	said := m.World.Project + ".said"
	settings := m.World.Project + ".settings.json"
	m.Write(settings, `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo \"$WORD\" >>`+said+`"}]}]}, "env": {"WORD": "mine"}}`)
	m.OK("spawn", "alpha", "--settings", settings)
	m.WaitState("alpha", "idle")
	m.Must(os.Remove(settings)) // the record has them
	starts := func(want string) {
		m.WaitFor("the hook of the settings", func() (bool, string) {
			text, _ := os.ReadFile(said)
			return string(text) == want, string(text)
		})
	}
	starts("mine\n")
	m.OK("resume", "alpha", "--force")
	m.WaitState("alpha", "idle")
	starts("mine\nmine\n")
	m.Refused(4, "disableAllHooks cannot be set for an agent", "spawn", "beta", "--settings", `{"disableAllHooks": true}`)
}
