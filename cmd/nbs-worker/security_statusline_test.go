package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A status line is a program that settings files name, and a project may bring such a file.

// Who is no recorded agent has nothing run for him.
func TestStatusLineOfNobodyRunsNothing(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	ran := filepath.Join(m.TempDir(), "ran")
	m.userSettings(`{"statusLine":{"type":"command","command":"echo mine; touch ` + ran + `"}}`)
	payload := `{"workspace":{"project_dir":"` + m.world.Project + `"},"context_window":{"context_window_size":200000}}`
	for _, env := range [][]string{
		nil, {"NBS_HANDLE=alpha", "NBS_ROOT=" + m.world.Project},
		{"NBS_HANDLE=alpha", "NBS_ROOT=" + m.world.Project, "NBS_INVOCATION_ID=4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"},
	} {
		cmd := m.command([]string{"statusline"}, env...)
		cmd.Stdin = strings.NewReader(payload)
		r := m.finish(cmd)
		m.check(r.code == 0 && r.stdout+r.stderr == "", "%q: %s", env, r)
	}
	m.check(!exists(ran), "the user's status line was run for nobody")
	out := m.said("alpha", "statusline", payload)
	m.check(out == "mine\n", "of the agent: %q", out)
}

// Whose status line is run is for the record to say: an agent's shell can call with any words.
func TestStatusLineOfAnotherFolderIsNotRun(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	other, ran := m.otherProject(), filepath.Join(m.TempDir(), "ran")
	const file = "settings.json"
	for _, folder := range []string{filepath.Join(other, ".claude"), other} {
		m.must(os.MkdirAll(folder, 0o700))
		text := `{"statusLine":{"type":"command","command":"touch ` + ran + `"}}`
		m.must(os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600))
	}
	m.asAgent("alpha", `echo '{"workspace":{"project_dir":"`+other+`"}}' | CLAUDE_CONFIG_DIR=`+other+` HOME=`+other+` nbs-worker statusline`)
	m.check(!exists(ran), "the status line of a folder that the call names was run")
	m.userSettings(`{"statusLine":{"type":"command","command":"echo mine"}}`)
	said := m.asAgent("alpha", `echo '{"workspace":{"project_dir":"`+other+`"}}' | nbs-worker statusline`)
	m.check(said[0] == "mine\ncode 0\n", "the user's own: %q", said)
}

// An agent that was told to leave the project's settings alone gets no status line from them,
// and neither do we; both versions of Claude agree.
func TestStatusLineHonoursSettingSources(t *testing.T) {
	eachVersion(t, func(t *testing.T, m *team) {
		owned := filepath.Join(m.TempDir(), "owned")
		m.userSettings(`{"statusLine":{"type":"command","command":"echo USERS-OWN-LINE"}}`)
		for _, name := range []string{"settings.json", "settings.local.json"} {
			m.projectSettings(name, `{"statusLine":{"type":"command","command":"echo PROJECTS-LINE; touch `+owned+`"}}`)
		}
		m.ok("spawn", "alpha", "--model", "sonnet", "--", "--setting-sources", "user")
		m.waitFor("the user's status line is on the screen", func() (bool, string) {
			screen := m.screen("alpha")
			return strings.Contains(screen, "USERS-OWN-LINE"), screen
		})
		m.check(!exists(owned), "the project's status line was run")
		m.ok("dismiss", "alpha")
		m.ok("spawn", "beta", "--model", "sonnet", "--", "--setting-sources=user,project,local")
		m.waitFor("the project's is, where it is wanted", func() (bool, string) {
			screen := m.screen("beta")
			return strings.Contains(screen, "PROJECTS-LINE"), screen
		})
	})
}
