package security

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// uses has an agent use a tool, and returns what the tool said.
func (m *team) uses(handle, tool string, input map[string]string) string {
	m.Helper()
	text, err := json.Marshal(input)
	m.Must(err)
	const said = "agent: Tool said: "
	before := strings.Count(m.NBS("logs", handle, "--tools").Stdout, said)
	m.TypeLine(m.Session(handle), "[[tool "+tool+" "+string(text)+"]]")
	var answer string
	m.WaitFor(tool+" has ended", func() (bool, string) {
		out := m.NBS("logs", handle, "--tools").Stdout
		if strings.Count(out, said) == before {
			return false, out + m.Screen(handle)
		}
		answer = out[strings.LastIndex(out, said):]
		return true, ""
	})
	m.WaitState(handle, "idle")
	return answer
}

// The file tools of an agent, and of the claude of a conversation, which may edit what they like reach nothing that decides what
// others run. Names that mean something in a pattern, or in a rule, open nothing.
func TestPowerOfAnAgentsFileTools(t *testing.T) {
	m := eachVersion(t)
	m.World.Project = m.Folder(`a[b] (c) {d} !#`)
	m.Dir = m.World.Project
	states := m.Folder(`st[a]te (x) *?\y`)
	m.Env = append(m.Env, "XDG_STATE_HOME="+states)
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Project}})
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits")
	made, record, forged := filepath.Join(m.World.Project, "made"), m.InNbs("sessions", "alpha.json"), m.InNbs("sessions", "forged.json")
	answer := m.uses("alpha", "Write", map[string]string{"file_path": made, "content": "x"})
	m.Check(e2e.Exists(made), "it cannot write in its project at all: %s", answer)
	text := e2e.Read(t, record)
	for _, path := range []string{forged, m.InNbs("new", "deep", "file"), filepath.Join(states, "nbs-worker", "forged")} {
		answer = m.uses("alpha", "Write", map[string]string{"file_path": path, "content": "{}"})
		m.Check(!e2e.Exists(path) && strings.Contains(answer, "denied"), "Write %s: %s", path, answer)
	}
	m.uses("alpha", "Read", map[string]string{"file_path": record}) // to look is allowed
	answer = m.uses("alpha", "Edit", map[string]string{"file_path": ".nbs/sessions/alpha.json", "old_string": "acceptEdits", "new_string": "default"})
	m.Check(e2e.Read(t, record) == text && strings.Contains(answer, "denied"), "Edit: %s", answer)
	key := filepath.Join(states, "nbs-worker", "key")
	info, err := os.Stat(key)
	m.Check(err == nil && info.Mode().Perm() == 0o600, "the key: %v, %v", info, err)
	answer = m.uses("alpha", "Read", map[string]string{"file_path": key})
	m.Check(strings.Contains(answer, "denied"), "Read: %s", answer)

	for what, tool := range map[string]string{
		"a record": `Write {"file_path":"` + forged + `","content":"{}"}`, "the key": `Read {"file_path":` + e2e.Encoded(m.Team, key) + `}`,
	} {
		got := m.Ask(0, "review", "[[tool "+tool+"]]", "--", "--allowedTools", "Write,Read")
		m.Check(got.Answer != nil && strings.Contains(*got.Answer, "denied"), "%s: %+v", what, got)
	}
	m.Check(!e2e.Exists(forged), "a record is forged")
}
