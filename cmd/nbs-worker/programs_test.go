package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Programs in the place of claude, tmux and nbs-worker.

// program writes a shell script under the name of a program, in a folder of its own,
// and returns its path.
func (m *team) program(name, script string) string {
	m.Helper()
	path := filepath.Join(m.TempDir(), name)
	m.must(os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	return path
}

// script writes a shell script that stands for claude and returns its path.
func (m *team) script(body string) string {
	m.Helper()
	return m.program("claude", body)
}

// under makes nbs-worker run under a shell's preparation, such as "umask 000".
func (m *team) under(preparation string) {
	m.Helper()
	m.worker = m.program("nbs-worker", fmt.Sprintf("%s\nexec %s \"$@\"", preparation, m.worker))
}

// pathWithout is a folder with what nbs-worker needs from the PATH, less one program.
func (m *team) pathWithout(missing string) string {
	m.Helper()
	dir := m.TempDir()
	for _, name := range []string{"tmux", "claude", "sh"} {
		path, err := exec.LookPath(name)
		if name == missing || err != nil {
			continue
		}
		m.must(os.Symlink(path, filepath.Join(dir, name)))
	}
	return dir
}

// spyOnTmux writes down the arguments and the environment of every tmux that is
// started from now on, however short its life.
func (m *team) spyOnTmux() (seen func() string) {
	m.Helper()
	log := filepath.Join(m.TempDir(), "log")
	m.env = append(m.env, m.beforeTmux(`{ printf '%s\n' "$@"; env; } >>`+log))
	return func() string {
		text, err := os.ReadFile(log)
		if err != nil || !bytes.Contains(text, []byte("new-session")) {
			m.Fatalf("the spy saw no start: %v\n%s", err, text)
		}
		return string(text)
	}
}

// murderous puts a tmux first in the PATH that counts its calls, and kills a process
// before one of them. It returns the change of the environment. A call that asks no server is
// not counted: it is not waited for, and would kill at any time.
func (m *team) murderous(victim, beforeCall int) (env []string, calls func() int) {
	m.Helper()
	log := filepath.Join(m.TempDir(), "calls")
	path := m.beforeTmux(fmt.Sprintf(`case "$*" in *-V) ;; *)
	echo "$*" >>%[1]s
	if [ "$(wc -l <%[1]s)" -eq %[2]d ]; then
		kill -KILL %[3]d
		while [ -e /proc/%[3]d/exe ]; do :; done
	fi
esac`, log, beforeCall, victim))
	return []string{path}, func() int {
		text, _ := os.ReadFile(log)
		return strings.Count(string(text), "\n")
	}
}

// beforeTmux makes a PATH on which tmux does something each time, before it does what
// it is asked for.
func (m *team) beforeTmux(script string) (entry string) {
	m.Helper()
	tmux, err := exec.LookPath("tmux")
	m.must(err)
	spy := m.program("tmux", fmt.Sprintf("%s\nexec %s \"$@\"", script, tmux))
	return "PATH=" + filepath.Dir(spy) + ":" + m.variable("PATH")
}
