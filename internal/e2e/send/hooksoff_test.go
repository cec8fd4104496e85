package send

import (
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// Where the user's settings turn hooks off, spawn, session and doctor say so, and what is asked is answered in the terminal.
// The settings of the project take precedence, as in claude.
func TestHooksThatAreTurnedOff(t *testing.T) {
	m := eachVersion(t)
	m.UserSettings(`{"disableAllHooks":true}`)
	why := "disableAllHooks in " + filepath.Join(m.World.ConfigDir, "settings.json")
	spawned := m.NBS("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	const said = "nbs-worker: alpha: commands cannot answer what it asks: its Claude runs no hooks: "
	m.Check(spawned.Code == 0 && spawned.Stdout == "alpha\n" && strings.Contains(spawned.Stderr, said+why+"\n"), "%s", spawned)
	m.MustSay(m.OK("session", "alpha"), "\nAnswers:         off: its Claude runs no hooks: "+why)
	m.Doctor(e2e.AnyCode).Finds(m.Team, "start.hooks", "warning", why)
	m.Send(0, "accepted", "alpha", m.bash("one"))
	m.WaitState("alpha", "waiting")
	m.MustPrint("[]\n", "requests", "--json")
	m.MustSay(m.Refused(2, "no request of it is open", "approve", "alpha").Stderr, "nbs-worker attach alpha")
	m.answer("Enter")
	m.WaitFor("the tool runs", func() (bool, string) { return m.has("one"), m.Screen("alpha") })
	m.WaitState("alpha", "idle")

	m.ProjectSettings("settings.local.json", `{"disableAllHooks":false}`)
	resumed := m.NBS("resume", "alpha", "--force")
	m.Check(resumed.Code == 0 && !strings.Contains(resumed.Stderr, "runs no hooks"), "%s", resumed)
	m.Doctor(e2e.AnyCode).IsWell(m.Team, "start.hooks")
	r := m.asksFor("Bash", `{"command":"touch two"}`)
	m.MustPrint("alpha\n", "approve", "alpha", r.ID)
	m.told("")
	m.Check(m.has("two"), "the tool has not run")
}
