package security

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
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

// An agent that was told to leave the project's settings alone gets no status line from them,
// and neither do we; both versions of Claude agree.
func TestStatusLineHonoursSettingSources(t *testing.T) {
	m := eachVersion(t)
	owned := filepath.Join(m.TempDir(), "owned")
	m.UserSettings(`{"statusLine":{"type":"command","command":"echo USERS-OWN-LINE"}}`)
	for _, name := range []string{"settings.json", "settings.local.json"} {
		m.ProjectSettings(name, `{"statusLine":{"type":"command","command":"echo PROJECTS-LINE; touch `+owned+`"}}`)
	}
	m.OK("spawn", "alpha", "--model", "sonnet", "--", "--setting-sources", "user")
	m.WaitFor("the user's status line is on the screen", func() (bool, string) {
		screen := m.Screen("alpha")
		return strings.Contains(screen, "USERS-OWN-LINE"), screen
	})
	m.Check(!e2e.Exists(owned), "the project's status line was run")
	m.OK("dismiss", "alpha")
	m.OK("spawn", "beta", "--model", "sonnet", "--", "--setting-sources=user,project,local")
	m.WaitFor("the project's is, where it is wanted", func() (bool, string) {
		screen := m.Screen("beta")
		return strings.Contains(screen, "PROJECTS-LINE"), screen
	})
}
