package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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

// compete runs one command many times at once.
func (m *team) compete(contenders int, args ...string) []result {
	m.Helper()
	results := make([]result, contenders)
	var all sync.WaitGroup
	for i := range contenders {
		all.Go(func() { results[i] = m.nbs(args...) })
	}
	all.Wait()
	return results
}

// wonByOne checks that one of several competitors succeeded and that the others were
// told of a conflict.
func (m *team) wonByOne(results []result) {
	m.Helper()
	won := 0
	for _, r := range results {
		switch r.code {
		case 0:
			won++
		case 5:
		default:
			m.Error(r)
		}
	}
	if won != 1 {
		m.Errorf("%d of %d succeeded", won, len(results))
	}
}

// bossWithServer is an agent whose shell has started the user's tmux server, with a
// session of somebody in it; the agent itself lives in another server.
func (m *team) bossWithServer() {
	m.Helper()
	m.ok("--tmux-socket", "first", "spawn", "boss")
	boss := m.environ(m.session("boss").RecordedPID)
	m.env = append(m.env, "NBS_INVOCATION_ID="+boss["NBS_INVOCATION_ID"])
	m.tmux("new-session", "-d", "-s", "somebody", "cat; cat")
}
