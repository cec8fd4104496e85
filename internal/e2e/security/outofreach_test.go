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

// mayNot has an agent that may edit what it likes try to reach what is not its own.
func (m *team) mayNot(handle, state string) {
	m.Helper()
	answer := m.uses(handle, "Write", map[string]string{"file_path": filepath.Join(m.World.Project, "made"), "content": "x"})
	m.Check(e2e.Exists(filepath.Join(m.World.Project, "made")), "it cannot write in its project at all: %s", answer)
	record := m.InNbs("sessions", handle+".json")
	text := e2e.Read(m.T, record)
	for _, path := range []string{m.InNbs("sessions", "forged.json"), m.InNbs("status", "other.json"), m.InNbs("new", "deep", "file"), filepath.Join(state, "forged")} {
		answer := m.uses(handle, "Write", map[string]string{"file_path": path, "content": "{}"})
		m.Check(!e2e.Exists(path) && strings.Contains(answer, "denied"), "Write %s: %s", path, answer)
	}
	m.uses(handle, "Read", map[string]string{"file_path": record}) // to look is allowed
	answer = m.uses(handle, "Edit", map[string]string{"file_path": ".nbs/sessions/" + handle + ".json", "old_string": "acceptEdits", "new_string": "default"})
	m.Check(e2e.Read(m.T, record) == text && strings.Contains(answer, "denied"), "Edit: %s", answer)
	key := filepath.Join(state, "key")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		m.Fatalf("the key: %v, %v", info, err)
	}
	answer = m.uses(handle, "Read", map[string]string{"file_path": key})
	m.Check(strings.Contains(answer, "denied"), "Read: %s", answer)
}

func TestPowerOfAnAgentsFileTools(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits")
	m.mayNot("alpha", m.InState())
}

// Names that mean something in a pattern, or in a rule, open nothing.
func TestPowerOfAnAgentsFileToolsInFoldersOfOddNames(t *testing.T) {
	m := eachVersion(t)
	m.World.Project = m.Folder(`a[b] (c) {d} !#`)
	m.Dir = m.World.Project
	states := m.Folder(`st[a]te (x) *?\y`)
	m.Env = append(m.Env, "XDG_STATE_HOME="+states)
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Project}})
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits")
	m.mayNot("alpha", filepath.Join(states, "nbs-worker"))
}

// The claude of a conversation is kept out of the same folders, also with its user's widest mode.
func TestConversationsAreClosedOut(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha") // so that there is a key
	for what, tool := range map[string]string{
		"a record": `Write {"file_path":"` + m.InNbs("sessions", "forged.json") + `","content":"{}"}`,
		"the key":  `Read {"file_path":"` + m.InState("key") + `"}`,
	} {
		got := m.Ask(0, "review", "[[tool "+tool+"]]", "--", "--allowedTools", "Write,Read")
		m.Check(got.Answer != nil && strings.Contains(*got.Answer, "denied"), "%s: %+v", what, got)
	}
	m.Check(!e2e.Exists(m.InNbs("sessions", "forged.json")), "a record is forged")
}
