package contract

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// named is a session with a name of the user's, over a resume: registry, terminal title and the box of the prompt have
// it, and it makes no transcript.
func named(t *testing.T, s *stage) {
	id := newID()
	settings := `{"idleCompaction":false,"autoContinueAtUsageLimit":false}` // 2.1.197 does not know them
	p := s.start(t, "--session-id", id, "--permission-mode", "default", "-n", "alpha", "--settings", settings)
	checkName := func(p *pane) {
		t.Helper()
		rig.WaitFor(t, "the registry has the name", func() (bool, string) { // 2.1.197 first gives one that it makes
			e := p.status("idle")
			return e.Name == "alpha" && e.SessionID == id && (s.old || e.NameSource == "user"), fmt.Sprintf("%+v", e)
		})
		rig.WaitFor(t, "the name is in the title and on the rule", func() (bool, string) {
			title, screen := p.tmux("display-message", "-p", "-t", p.name, "#{pane_title}"), p.screen()
			return title == "✳ alpha\n" && strings.Contains(screen, "─ alpha ─"), title + screen
		})
	}
	checkName(p)
	found := s.transcripts(t, "*")
	rig.Check(t, len(found) == 0, "a name alone made %v", found)
	p.says("Remember 7.")
	p.shows("OK, I will remember 7.")
	p.status("idle")
	s.answered(t, id)
	p.signal("TERM")
	p.exits()
	again := s.start(t, "--resume", id, "--permission-mode", "default", "-n", "alpha", "--", "What number?")
	again.shows("● 7")
	checkName(again)
}

// limitsOnStatusLine is what a status line gets of the account's limits: nothing before the first reply.
func limitsOnStatusLine(t *testing.T, s *stage) {
	s.env = s.world.Env(append(s.subject.env, "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-made-up")...)
	said := filepath.Join(s.world.Root, "said")
	settings, err := json.Marshal(map[string]any{"statusLine": map[string]any{"type": "command", "command": "cat >>" + said + "; echo >>" + said}})
	rig.Must(t, err)
	p := s.start(t, "--session-id", newID(), "--permission-mode", "default", "--settings", string(settings), "--", "Hello. [[limits 5h=0.29@1h 7d=0.07@24h]]")
	before := time.Now()
	p.shows("● You said: Hello.")
	type limit struct {
		Used     float64 `json:"used_percentage"`
		ResetsAt int64   `json:"resets_at"`
	}
	var line struct {
		Limits struct {
			FiveHour limit `json:"five_hour"`
			SevenDay limit `json:"seven_day"`
		} `json:"rate_limits"`
	}
	rig.WaitFor(t, "the status line is told the limits", func() (bool, string) {
		data, err := os.ReadFile(said)
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		last := lines[len(lines)-1]
		_ = json.Unmarshal([]byte(last), &line)
		return line.Limits.FiveHour.ResetsAt != 0, fmt.Sprintf("%s %v", data, err)
	})
	rig.Check(t, int(line.Limits.FiveHour.Used+0.001) == 29 && int(line.Limits.SevenDay.Used+0.001) == 7, "%+v", line)
	in := time.Unix(line.Limits.FiveHour.ResetsAt, 0).Sub(before)
	rig.Check(t, in > 59*time.Minute && in < 62*time.Minute, "it resets in %s", in)
}
