package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// script writes a shell script that stands for claude and returns its path.
func (m *team) script(body string) string {
	m.Helper()
	path := filepath.Join(m.TempDir(), "claude")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		m.Fatal(err)
	}
	return path
}

// setRecord changes a record behind the program's back.
func (m *team) setRecord(handle string, change func(fields map[string]any)) {
	m.Helper()
	fields := m.record(handle)
	change(fields)
	text, err := json.Marshal(fields)
	if err != nil {
		m.Fatal(err)
	}
	m.writeRecord(handle, string(text))
}

// forgetExits removes what a launcher recorded, as if it had had no time to.
func (m *team) forgetExits(handle string) {
	m.Helper()
	m.setRecord(handle, func(fields map[string]any) { delete(fields, "exits") })
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
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			m.Fatal(err)
		}
	}
	return dir
}

// mustHaveSent checks that the API got the text as one message, byte for byte.
func (m *team) mustHaveSent(text string) {
	m.Helper()
	for _, request := range m.api.Requests() {
		for _, sent := range request.Texts {
			if sent == text {
				return
			}
		}
	}
	var all []string
	for _, request := range m.api.Requests() {
		for _, sent := range request.Texts {
			all = append(all, fmt.Sprintf("%d bytes: %.200q", len(sent), sent))
		}
	}
	m.Errorf("the API did not get %d bytes, %.200q, but\n%s", len(text), text, strings.Join(all, "\n"))
}

// typeLine types a line into an agent's terminal, as a person would.
func (m *team) typeLine(s session, line string) {
	m.Helper()
	target := "=" + s.TmuxSession + ":"
	m.tmux("send-keys", "-t", target, "-l", line)
	m.waitFor("the line is in the box", func() (bool, string) {
		screen := m.tmux("capture-pane", "-p", "-t", target)
		return strings.Contains(screen, line), screen
	})
	m.tmux("send-keys", "-t", target, "Enter")
}
