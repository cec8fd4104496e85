package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// What an agent's tools may do to what decides what its colleagues run.

// inState is the path of something in the state folder of the user.
func (m *team) inState(names ...string) string {
	return filepath.Join(append([]string{m.world.Home, ".local", "state", "nbs-worker"}, names...)...)
}

// launchFiles are the launches that no launcher took, of all projects.
func (m *team) launchFiles() []string {
	var all []string
	for _, runtime := range []string{filepath.Join(m.world.RunDir, "nbs-worker"), m.inState("run")} {
		for _, pattern := range []string{"*", ".*"} {
			found, _ := filepath.Glob(filepath.Join(runtime, "*", "launch", pattern)) // the pattern is well formed
			all = append(all, found...)
		}
	}
	return slices.DeleteFunc(all, func(path string) bool { return strings.Trim(filepath.Base(path), ".") == "" })
}

// launchFolder is where the launch files of the project are handed over. It is made, so that
// what is made in it can be watched.
func (m *team) launchFolder() string {
	m.Helper()
	sum := sha256.Sum256([]byte(m.world.Project))
	dir := filepath.Join(m.world.RunDir, "nbs-worker", hex.EncodeToString(sum[:16]), "launch")
	m.must(os.MkdirAll(dir, 0o700))
	return dir
}

// uses has an agent use a tool, and returns what the tool said.
func (m *team) uses(handle, tool string, input map[string]string) string {
	m.Helper()
	text, err := json.Marshal(input)
	m.must(err)
	const said = "agent: Tool said: "
	before := strings.Count(m.nbs("logs", handle, "--tools").stdout, said)
	m.typeLine(m.session(handle), "[[tool "+tool+" "+string(text)+"]]")
	var answer string
	m.waitFor(tool+" has ended", func() (bool, string) {
		out := m.nbs("logs", handle, "--tools").stdout
		if strings.Count(out, said) == before {
			return false, out + m.screen(handle)
		}
		answer = out[strings.LastIndex(out, said):]
		return true, ""
	})
	m.waitState(handle, "idle")
	return answer
}

// mayNot has an agent that may edit what it likes try to reach what is not its own.
func (m *team) mayNot(handle, state string) {
	m.Helper()
	answer := m.uses(handle, "Write", map[string]string{"file_path": filepath.Join(m.world.Project, "made"), "content": "x"})
	m.check(exists(filepath.Join(m.world.Project, "made")), "it cannot write in its project at all: %s", answer)
	record := m.inNbs("sessions", handle+".json")
	text := read(m.T, record)
	for _, path := range []string{m.inNbs("sessions", "forged.json"), m.inNbs("status", "other.json"), m.inNbs("new", "deep", "file"), filepath.Join(state, "forged")} {
		answer := m.uses(handle, "Write", map[string]string{"file_path": path, "content": "{}"})
		m.check(!exists(path) && strings.Contains(answer, "denied"), "Write %s: %s", path, answer)
	}
	m.uses(handle, "Read", map[string]string{"file_path": record}) // to look is allowed
	answer = m.uses(handle, "Edit", map[string]string{"file_path": ".nbs/sessions/" + handle + ".json", "old_string": "acceptEdits", "new_string": "default"})
	m.check(read(m.T, record) == text && strings.Contains(answer, "denied"), "Edit: %s", answer)
	key := filepath.Join(state, "key")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		m.Fatalf("the key: %v, %v", info, err)
	}
	answer = m.uses(handle, "Read", map[string]string{"file_path": key})
	m.check(strings.Contains(answer, "denied"), "Read: %s", answer)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestPowerOfAnAgentsFileTools(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits")
		m.mayNot("alpha", m.inState())
	})
}

// Names that mean something in a pattern, or in a rule, open nothing.
func TestPowerOfAnAgentsFileToolsInFoldersOfOddNames(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		m.world.Project = m.folder(`a[b] (c) {d} !#`)
		m.dir = m.world.Project
		states := m.folder(`st[a]te (x) *?\y`)
		m.env = append(m.env, "XDG_STATE_HOME="+states)
		rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Project}})
		m.ok("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits")
		m.mayNot("alpha", filepath.Join(states, "nbs-worker"))
	})
}
