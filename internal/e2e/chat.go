package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Answered is what ask --json tells.
type Answered struct {
	Key               string
	Seq               int
	Answer            *string
	Continuity        string
	SessionID         string `json:"session_id"`
	PreviousSessionID string `json:"previous_session_id"`
	Reason            string
	Class             string
	FollowUps         []string `json:"follow_ups"`
	Notice            string
	Denials           []struct{ Tool, Input string }
	Usage             *struct{ Input, Output int }
}

// Chats has claudes give up soon on an API that fails.
func (m *Team) Chats() {
	m.Env = append(m.Env, "CLAUDE_CODE_MAX_RETRIES=1")
}

// Ask takes a turn that ends with the code.
func (m *Team) Ask(code int, key, text string, args ...string) (got Answered) {
	m.Helper()
	r := m.NBS(append([]string{"ask", key, text, "--json"}, args...)...)
	if r.Code != code {
		m.Fatalf("ask %s %.60q: want exit code %d: %s", key, text, code, r)
	}
	if r.Stdout != "" {
		m.Must(json.Unmarshal([]byte(r.Stdout), &got))
	}
	return got
}

// Says takes a turn that is answered with the words.
func (m *Team) Says(key, text, words string, args ...string) Answered {
	m.Helper()
	got := m.Ask(0, key, text, args...)
	if got.Answer == nil || *got.Answer != words {
		m.Fatalf("ask %s %.60q: %+v; want the answer %q", key, text, got, words)
	}
	return got
}

// NobodyToAdopt waits until adopt --list shows a claude of this world with the words, and checks that adopt refuses it.
func (m *Team) NobodyToAdopt(words string) (pid int) {
	m.Helper()
	pid = m.WaitListed(words)
	m.Check(m.NBS("adopt", "other", "--pid", strconv.Itoa(pid)).Code == 4, "it was adopted")
	return pid
}

// WaitListed waits until adopt --list shows a claude of this world with the words, and returns its pid.
func (m *Team) WaitListed(words string) int {
	m.Helper()
	var pid string
	m.WaitFor("a claude that "+words, func() (bool, string) {
		out := m.OK("adopt", "--list")
		for line := range strings.Lines(out) {
			if strings.Contains(line, m.World.Root) && strings.Contains(line, words) { // not another test's
				pid, _, _ = strings.Cut(strings.TrimSpace(line), "\t")
			}
		}
		return pid != "", out
	})
	n, err := strconv.Atoi(pid)
	m.Must(err)
	return n
}

func Key(k int) string { return fmt.Sprintf("key:%d", k) }

// AnswersTurns reports whether it is a headless claude.
func (p WorldProcess) AnswersTurns() bool { return len(p.Args) > 1 && p.Args[1] == "-p" }

// TurnFolder is where claudes without a terminal find what they read.
func (m *Team) TurnFolder() string { return filepath.Join(m.World.RunDir, "nbs-worker", "turns") }

// NoTurnFiles checks that nothing is there any more that a claude without a terminal was to read.
func (m *Team) NoTurnFiles() {
	m.Helper()
	left, err := os.ReadDir(m.TurnFolder())
	m.Check(len(left) == 0 && (err == nil || errors.Is(err, fs.ErrNotExist)), "%v, %v", left, err)
}
