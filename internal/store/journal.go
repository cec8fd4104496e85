package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"syscall"
	"time"

	"nbs-worker/internal/agent"
)

const journal = "journal.jsonl"

// Event is one line of the journal: what was done to whom, on what evidence. It
// holds no secret and no prompt.
type Event struct {
	At         time.Time        `json:"at"`
	Event      string           `json:"event"` // "spawn", "start", "exit", "resume", "stop", "dismiss", "failed"
	Handle     agent.Handle     `json:"handle"`
	SessionID  agent.SessionID  `json:"session_id"`
	Invocation agent.Invocation `json:"invocation,omitempty"`
	PID        int              `json:"pid,omitempty"`
	Detail     string           `json:"detail,omitempty"`
}

// Append adds one line to the journal, durably, under the journal's lock.
func (s *Store) Append(ctx context.Context, event Event) error {
	line, err := json.Marshal(event)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, recordLockWait)
	defer cancel()
	lock := s.lock("journal")
	if locked, err := lock.TryLockContext(ctx, recordLockRetry); !locked {
		return s.lockFailed("journal", err)
	}
	defer lock.Close()
	f, err := s.nbs.OpenFile(journal, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if tornAtEnd(f) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Sync(), f.Close())
}

// tornAtEnd tells whether the last line was cut short, by a full disk or a power cut.
func tornAtEnd(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// lastSessionID returns the id that the journal names last for the handle, or "".
func (s *Store) lastSessionID(handle agent.Handle) agent.SessionID {
	f, err := s.nbs.OpenFile(journal, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is not waited for
	if err != nil {
		return ""
	}
	defer f.Close()
	var last agent.SessionID
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, fileLimit)
	for lines.Scan() {
		var event Event
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			continue
		}
		if id, err := agent.ParseSessionID(string(event.SessionID)); err == nil && event.Handle.Same(handle) {
			last = id
		}
	}
	return last
}
