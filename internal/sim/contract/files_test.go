package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"nbs-worker/internal/sim/rig"
)

// entry is what the contract says about sessions/<pid>.json.
type entry struct {
	PID                             int
	SessionID, CWD, ProcStart       string
	StartedAt, UpdatedAt            int64
	Version, Kind, Entrypoint, Name string
	NameSource                      string
	Status, WaitingFor              string
}

func (s *stage) registryFile(pid int) string {
	return filepath.Join(s.world.ConfigDir, "sessions", fmt.Sprintf("%d.json", pid))
}

// status waits until the program's entry has this status, and returns the entry.
func (p *pane) status(want string) entry {
	p.t.Helper()
	pid := p.pid()
	var e entry
	rig.WaitFor(p.t, "registry says "+want, func() (bool, string) {
		data, err := os.ReadFile(p.s.registryFile(pid))
		e = entry{}
		_ = json.Unmarshal(data, &e) // half written: the next look decides
		return e.Status == want, fmt.Sprintf("%s %v", data, err)
	})
	return e
}

func (s *stage) registered(t *testing.T) []string {
	t.Helper()
	return glob(t, filepath.Join(s.world.ConfigDir, "sessions", "*.json"))
}

func (s *stage) transcripts(t *testing.T, id string) []string {
	t.Helper()
	return glob(t, filepath.Join(s.world.ConfigDir, "projects", "*", id+".jsonl"))
}

// slug is the name of the project's folder of transcripts.
func (s *stage) slug() string {
	return strings.NewReplacer("/", "-", ".", "-").Replace(s.world.Project)
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	rig.Must(t, err)
	return names
}

func newID() string { return uuid.NewString() }

// turn is a user or assistant record of a transcript.
type turn struct {
	Type, UUID, SessionID, CWD, Version, Timestamp, Entrypoint string
	ParentUUID                                                 *string
	IsSidechain                                                bool
	Message                                                    struct {
		Role    string
		Model   string
		Content json.RawMessage
		Usage   struct {
			InputTokens int `json:"input_tokens"`
		}
	}
}

// answered waits until the transcript holds an answer, and returns its turns. The real program writes some time after
// it has shown the answer and become idle.
func (s *stage) answered(t *testing.T, id string) []turn {
	t.Helper()
	var turns []turn
	rig.WaitFor(t, "the answer is in the transcript", func() (bool, string) {
		files := s.transcripts(t, id)
		if len(files) != 1 {
			return false, fmt.Sprintf("transcripts: %v", files)
		}
		turns = readTurns(t, files[0])
		n := len(turns)
		return n >= 2 && turns[0].Type == "user" && turns[n-1].Type == "assistant", fmt.Sprintf("%+v", turns)
	})
	return turns
}

func readTurns(t *testing.T, file string) []turn {
	t.Helper()
	data, err := os.ReadFile(file)
	rig.Must(t, err)
	var turns []turn
	for line := range bytes.Lines(data) {
		var r turn
		if err := json.Unmarshal(line, &r); err == nil && (r.Type == "user" || r.Type == "assistant") {
			turns = append(turns, r)
		}
	}
	// The lines are not always in the order of what was said: 2.1.197 on a busy machine writes an answer before its
	// question.
	slices.SortStableFunc(turns, func(a, b turn) int { return strings.Compare(a.Timestamp, b.Timestamp) })
	return turns
}

// run is one run without a terminal: stdin is empty.
func (s *stage) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return s.runIn(t, s.world.Project, args...)
}

func (s *stage) runIn(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.path, args...)
	cmd.Dir, cmd.Env = dir, s.env
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	failed := cmd.Run()
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		t.Fatal(failed)
	}
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// asked returns the texts of the last request of the conversation.
func (s *stage) asked(t *testing.T) []string {
	t.Helper()
	for _, r := range slices.Backward(s.api.Requests()) {
		if r.Method == "POST" && !r.Side {
			return r.Texts
		}
	}
	t.Fatal("nothing was asked")
	return nil
}
