package send

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// An account with a plan: the real Claude Code hands over its limits after the first reply, and its session is named
// after the handle, in the registry too.
func TestLimitsAndNameOfARealAgent(t *testing.T) {
	m := eachVersion(t)
	m.Env = slices.DeleteFunc(m.Env, func(entry string) bool { return strings.HasPrefix(entry, "ANTHROPIC_API_KEY=") })
	m.Env = append(m.Env, "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-made-up")
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", "Hello. [[limits 5h=0.29@3h 7d=0.07@99h]]")
	type limit struct {
		Used   int    `json:"used_percent"`
		Resets string `json:"resets_at"`
	}
	var told []struct {
		Limits struct {
			FiveHour limit `json:"five_hour"`
			SevenDay limit `json:"seven_day"`
		} `json:"limits"`
	}
	rig.WaitFor(t, "the limits are known", func() (bool, string) {
		text := m.OK("session", "alpha", "--json")
		rig.Must(t, json.Unmarshal([]byte(text), &told))
		return len(told) == 1 && told[0].Limits.FiveHour.Resets != "", text
	})
	rig.Check(t, told[0].Limits.FiveHour.Used == 29 && told[0].Limits.SevenDay.Used == 7, "%+v", told)
	m.MustSay(m.OK("session", "alpha"), "5 hours: 29% used, resets in ", "7 days: 7% used, resets in ")
	mustBeNamed(t, m, m.WaitState("alpha", "idle"))
	m.OK("resume", "alpha", "--force")
	s := m.WaitState("alpha", "idle")
	mustBeNamed(t, m, s)
	rig.Check(t, !strings.Contains(m.OK("session", "alpha"), "Drift"), "the name counts as drift")
}

// mustBeNamed checks that Claude's registry has an agent's handle as its name.
func mustBeNamed(t *testing.T, m *team, s e2e.Session) {
	t.Helper()
	rig.WaitFor(t, "the registry has the handle", func() (bool, string) { // 2.1.197 first writes a name that it makes
		text, err := os.ReadFile(m.RegistryEntry(s.PID))
		var entry struct{ Name string }
		_ = json.Unmarshal(text, &entry)
		return entry.Name == "alpha", fmt.Sprintf("%s, %v", text, err)
	})
}
