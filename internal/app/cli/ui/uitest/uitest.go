// Package uitest is for the tests of the command line: records, and checks of output.
package uitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// SessionID is the conversation of a Record.
const SessionID = agent.SessionID("4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")

// Apart runs tests that see no tmux server, no Claude configuration and no setting of the user. There is a program in
// claude's place, which is never started.
func Apart(m *testing.M) int {
	home, err := os.MkdirTemp("", "nbs")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	fake := filepath.Join(home, "claude")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nexit 99\n"), 0o700); err != nil {
		panic(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "TMUX_TMPDIR": home, "NBS_TMUX_SOCKET": filepath.Join(home, "s"), "NBS_CLAUDE": fake, "IS_SANDBOX": "1",
		"CLAUDE_CONFIG_DIR": "", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": "", "NBS_STATE": "", "NBS_RUNTIME": "", "NBS_ROOT": "", "NBS_MODEL": "", "NBS_PERMISSION_MODE": "", "NBS_LAUNCH": "", "TMUX": "", "XDG_CONFIG_HOME": "", "NO_COLOR": "",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	return rig.Tight(m)
}

// Record is that of an agent that was never started.
func Record(handle agent.Handle) agent.Record {
	return agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Handle: handle, SessionID: SessionID, Model: "opus", ProjectRoot: "/srv/project",
		},
		TmuxSession: "nbs-" + string(handle) + "-live",
		Started:     time.Now().Add(-3*time.Hour - time.Minute).UTC().Truncate(time.Second), Desired: agent.DesiredRunning,
	}
}

// Full is a stream to which nothing can be written.
type Full struct{}

// Write implements [io.Writer].
func (Full) Write([]byte) (int, error) { return 0, os.ErrClosed }

// MustFit checks that a terminal of 80 columns shows a text as it is. A command is not broken: it is to be pasted.
func MustFit(t *testing.T, text string, holds ...string) {
	t.Helper()
	for line := range strings.Lines(text) {
		isCommand := strings.HasPrefix(strings.TrimSpace(line), "nbs-worker ") || strings.HasPrefix(strings.TrimSpace(line), "command: nbs-worker ")
		rig.Check(t, isCommand || utf8.RuneCountInString(strings.TrimRight(line, "\n")) <= 80, "a line has %d columns: %s\nof\n%s", utf8.RuneCountInString(line), line, text)
	}
	for _, want := range holds {
		rig.Check(t, strings.Contains(text, want), "it does not hold %q:\n%s", want, text)
	}
}
