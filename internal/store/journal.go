package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
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

// Append adds one line to the journal, durably. A line is one write, so that
// concurrent writers do not mix.
func (s *Store) Append(event Event) error {
	line, err := json.Marshal(event)
	if err != nil {
		return err
	}
	f, err := s.nbs.OpenFile(journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// lastSessionID returns the id that the journal names last for the handle, or "".
func (s *Store) lastSessionID(handle agent.Handle) agent.SessionID {
	f, err := s.nbs.Open(journal)
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
