package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nbs-worker/internal/sim/rig"
)

// Programs in the place of claude, tmux and nbs-worker.

// Program writes a shell script under the name of a program, in a folder of its own,
// and returns its path.
func (m *Team) Program(name, script string) string {
	m.Helper()
	path := filepath.Join(m.TempDir(), name)
	m.Must(os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	return path
}

// Script writes a shell script that stands for claude and returns its path.
func (m *Team) Script(body string) string {
	m.Helper()
	return m.Program("claude", body)
}

// PathWithout is a folder with what nbs-worker needs from the PATH, less one program.
func (m *Team) PathWithout(missing string) string {
	m.Helper()
	dir := m.TempDir()
	for _, name := range []string{"tmux", "claude", "sh"} {
		path, err := exec.LookPath(name)
		if name == missing || err != nil {
			continue
		}
		m.Must(os.Symlink(path, filepath.Join(dir, name)))
	}
	return dir
}

// BeforeTmux makes a PATH on which tmux does something each time, before it does what
// it is asked for.
func (m *Team) BeforeTmux(script string) (entry string) {
	m.Helper()
	tmux, err := exec.LookPath("tmux")
	m.Must(err)
	spy := m.Program("tmux", fmt.Sprintf("%s\nexec %s \"$@\"", script, tmux))
	return "PATH=" + filepath.Dir(spy) + ":" + m.Variable("PATH")
}

// An agent never gives more than it has, whatever it writes in front of its commands.

// AsAgent has an agent run commands in its shell, one after the other, and returns what each
// printed, with its exit code behind.
func (m *Team) AsAgent(handle string, commands ...string) []string {
	m.Helper()
	return m.AsClaude(m.WaitState(handle, "idle"), commands...)
}

// AsClaude has the claude of a tmux session run them.
func (m *Team) AsClaude(s Session, commands ...string) []string {
	m.Helper()
	dir := rig.ShortDir(m)
	var body strings.Builder
	for i, command := range commands {
		fmt.Fprintf(&body, "{ %s; } >%s/%d 2>&1; echo \"code $?\" >>%s/%d\n", command, dir, i, dir, i)
	}
	script := filepath.Join(dir, "task")
	m.Must(os.WriteFile(script, []byte(body.String()+"touch "+dir+"/done\n"), 0o700))
	m.TypeLine(s, `[[tool Bash {"command":"sh `+script+`"}]]`)
	defer func() {
		if m.Failed() {
			m.Log(m.Tmux("capture-pane", "-p", "-t", "="+s.TmuxSession+":"))
		}
	}()
	m.WaitFor("the commands were run in "+s.TmuxSession, func() (bool, string) { return Exists(filepath.Join(dir, "done")), "" })
	said := make([]string, len(commands))
	for i := range commands {
		text, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
		m.Must(err)
		said[i] = string(text)
	}
	return said
}

// MustDenyIn is mustDeny for the claude of a tmux session, which is called by the words.
func (m *Team) MustDenyIn(s Session, caller string, denied map[string]string) {
	m.Helper()
	commands := slices.Sorted(maps.Keys(denied))
	for i, said := range m.AsClaude(s, commands...) {
		named := strings.Contains(said, caller+" called this") || strings.Contains(said, "cannot determine what "+caller+" is allowed to do")
		if !named || !strings.Contains(said, denied[commands[i]]) || !strings.HasSuffix(said, "code 8\n") {
			m.Errorf("%s: %s", commands[i], said)
		}
	}
}
