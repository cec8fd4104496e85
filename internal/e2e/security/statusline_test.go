package security

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A status line is a program that settings files name, and a project may bring such a file.

// Who is no recorded agent has nothing run for him.
func TestStatusLineOfNobodyRunsNothing(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	ran := filepath.Join(m.TempDir(), "ran")
	m.UserSettings(`{"statusLine":{"type":"command","command":"echo mine; touch ` + ran + `"}}`)
	payload := `{"workspace":{"project_dir":"` + m.World.Project + `"},"context_window":{"context_window_size":200000}}`
	for _, env := range [][]string{
		nil, {"NBS_HANDLE=alpha", "NBS_ROOT=" + m.World.Project},
		{"NBS_HANDLE=alpha", "NBS_ROOT=" + m.World.Project, "NBS_INVOCATION_ID=4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"},
	} {
		cmd := m.Command([]string{"statusline"}, env...)
		cmd.Stdin = strings.NewReader(payload)
		r := m.Finish(cmd)
		m.Check(r.Code == 0 && r.Stdout+r.Stderr == "", "%q: %s", env, r)
	}
	m.Check(!e2e.Exists(ran), "the user's status line was run for nobody")
	out := m.Said("alpha", "statusline", payload)
	m.Check(out == "mine\n", "of the agent: %q", out)
}

// Whose status line is run is for the record to say: an agent's shell can call with any words.
func TestStatusLineOfAnotherFolderIsNotRun(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	other, ran := m.OtherProject(), filepath.Join(m.TempDir(), "ran")
	const file = "settings.json"
	for _, folder := range []string{filepath.Join(other, ".claude"), other} {
		m.Must(os.MkdirAll(folder, 0o700))
		text := `{"statusLine":{"type":"command","command":"touch ` + ran + `"}}`
		m.Must(os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600))
	}
	m.AsAgent("alpha", `echo '{"workspace":{"project_dir":"`+other+`"}}' | CLAUDE_CONFIG_DIR=`+other+` HOME=`+other+` nbs-worker statusline`)
	m.Check(!e2e.Exists(ran), "the status line of a folder that the call names was run")
	m.UserSettings(`{"statusLine":{"type":"command","command":"echo mine"}}`)
	said := m.AsAgent("alpha", `echo '{"workspace":{"project_dir":"`+other+`"}}' | nbs-worker statusline`)
	m.Check(said[0] == "mine\ncode 0\n", "the user's own: %q", said)
}

// An agent that was told to leave the project's settings alone gets no status line from them.
func TestStatusLineHonoursSettingSources(t *testing.T) {
	m := standIn(t)
	m.UserSettings(`{"statusLine":{"type":"command","command":"echo of the user"}}`)
	m.ProjectSettings("settings.json", `{"statusLine":{"type":"command","command":"echo of the project"}}`)
	m.OK("spawn", "alpha", "--", "--setting-sources", "user")
	m.OK("spawn", "beta", "--", "--setting-sources=user,project,local")
	payload := `{"workspace":{"project_dir":"` + m.World.Project + `"},"context_window":{"context_window_size":200000}}`
	for handle, want := range map[string]string{"alpha": "of the user\n", "beta": "of the project\n"} {
		rig.Equal(m, m.Said(handle, "statusline", payload), want, "%s", handle)
	}
}
