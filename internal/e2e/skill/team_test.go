// Package skill tests that Claude Code finds the skill that nbs-worker installs, and that an agent that has read only that
// page can do what is in it.
package skill

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, 10*time.Minute)) }

// team is a project with the helpers of this package's tests.
type team struct{ *e2e.Team }

func eachVersion(t *testing.T) *team { return &team{e2e.EachVersion(t)} }

// told is what the model is told of its tool.
type told struct {
	text   string // the result
	beside string // what Claude adds to it
	failed bool
}

// uses has an agent's model use a tool, and returns what the model is told then.
func (m *team) uses(handle, tool string, input any) told {
	m.Helper()
	before := len(m.API.Requests())
	m.OK("send", handle, "[[tool "+tool+" "+e2e.Encoded(m.Team, input)+"]]", "--wait-reply", "--timeout", e2e.Patience())
	session := m.Session(handle).SessionID
	all := m.API.Requests()
	for i := len(all) - 1; i >= before; i-- {
		if got, is := toldIn(all[i]); is && all[i].SessionID == session {
			return got
		}
	}
	m.Fatalf("%s was told nothing of %s %v", handle, tool, input)
	return told{}
}

// bash has an agent run a command.
func (m *team) bash(handle, command string) told {
	m.Helper()
	return m.uses(handle, "Bash", map[string]string{"command": command})
}

// toldIn returns what a request tells the model of its tool, if it does.
func toldIn(r api.Request) (got told, is bool) {
	var body struct {
		Messages []struct{ Content json.RawMessage }
	}
	type part struct {
		Type, Text string
		Content    json.RawMessage
		IsError    bool `json:"is_error"`
	}
	var parts, inner []part
	if r.Side || json.Unmarshal(r.Body, &body) != nil || len(body.Messages) == 0 || json.Unmarshal(body.Messages[len(body.Messages)-1].Content, &parts) != nil {
		return told{}, false
	}
	for _, p := range parts {
		if p.Type == "text" {
			got.beside += p.Text + "\n"
		}
		if p.Type != "tool_result" {
			continue
		}
		is, got.failed = true, p.IsError
		if json.Unmarshal(p.Content, &got.text) != nil && json.Unmarshal(p.Content, &inner) == nil {
			for _, p := range inner {
				got.text += p.Text
			}
		}
	}
	return got, is
}

// offered reports whether a claude has told its model of a skill, with its description.
func (m *team) offered(session, skill, description string) bool {
	for _, r := range m.API.Requests() {
		line, _ := json.Marshal("- " + skill + ": " + description)
		if r.SessionID == session && strings.Contains(string(r.Body), strings.Trim(string(line), `"`)) {
			return true
		}
	}
	return false
}
