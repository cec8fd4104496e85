package standin

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is sessions/<pid>.json, the real program's list of who runs.
type entry struct {
	PID             int    `json:"pid"`
	SessionID       string `json:"sessionId"`
	CWD             string `json:"cwd"`
	StartedAt       int64  `json:"startedAt"` // milliseconds
	ProcStart       string `json:"procStart"` // field 22 of /proc/<pid>/stat
	Version         string `json:"version"`
	PeerProtocol    int    `json:"peerProtocol"`
	Kind            string `json:"kind"`
	Entrypoint      string `json:"entrypoint"`
	Name            string `json:"name"`
	NameSource      string `json:"nameSource"`
	Status          string `json:"status,omitempty"`
	WaitingFor      string `json:"waitingFor,omitempty"`
	UpdatedAt       int64  `json:"updatedAt,omitempty"`
	StatusUpdatedAt int64  `json:"statusUpdatedAt,omitempty"`
}

// registry owns this process's entry. A nil registry does nothing: amnesia, or no-registry.
type registry struct {
	dir   string
	entry entry
}

func newRegistry(dir string, e entry) (*registry, error) {
	e.PID, e.StartedAt, e.Kind, e.PeerProtocol = os.Getpid(), time.Now().UnixMilli(), "interactive", 1
	start, err := procStart()
	if err != nil {
		return nil, err
	}
	e.ProcStart = start
	if e.NameSource = "user"; e.Name == "" {
		e.Name, e.NameSource = filepath.Base(e.CWD)+"-"+e.SessionID[:2], "derived"
	}
	return &registry{dir: filepath.Join(dir, "sessions"), entry: e}, nil
}

// register writes the entry without a status, as the real program first does; setStatus adds one.
func (r *registry) register() error {
	if r == nil {
		return nil
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return fmt.Errorf("register: %w", err)
	}
	return r.write()
}

func (r *registry) setStatus(status, waitingFor string) error {
	if r == nil {
		return nil
	}
	now := time.Now().UnixMilli()
	r.entry.Status, r.entry.WaitingFor = status, waitingFor
	r.entry.UpdatedAt, r.entry.StatusUpdatedAt = now, now
	return r.write()
}

func (r *registry) setSession(id string) error {
	if r == nil {
		return nil
	}
	r.entry.SessionID, r.entry.UpdatedAt = id, time.Now().UnixMilli()
	return r.write()
}

func (r *registry) path() string { return fmt.Sprintf("%s/%d.json", r.dir, r.entry.PID) }

// write writes the entry in place, as the real program does: who has it open reads it to the end.
func (r *registry) write() error {
	data, err := json.Marshal(r.entry)
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	return os.WriteFile(r.path(), data, 0o644)
}

// remove removes the entry, at every graceful end. There may be none.
func (r *registry) remove() {
	if r == nil {
		return
	}
	_ = os.Remove(r.path())
}

// writeKey writes the key file, which is there before any dialog and long before the entry, and returns its name.
func writeKey(configDir string) (string, error) {
	dir := filepath.Join(configDir, "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("write key: %w", err)
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	name := fmt.Sprintf("%s/%d.%s.key", dir, os.Getpid(), hex.EncodeToString(secret))
	return name, os.WriteFile(name, nil, 0o600)
}

// procStart reads when this process started, in clock ticks since boot. The name in field 2 may hold anything, so
// counting starts behind its closing parenthesis.
func procStart() (string, error) {
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return "", fmt.Errorf("read start time: %w", err)
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	return fields[19], nil
}
