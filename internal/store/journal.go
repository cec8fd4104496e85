package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/smallfile"
)

const (
	journal    = "journal.jsonl"
	eventLimit = 1 << 16 // bytes of a line; ours hold a few words
)

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

// EventOf is what was done to the agent of a record.
func EventOf(r *agent.Record, at time.Time, event, detail string) Event {
	done := Event{At: at, Event: event, Handle: r.Handle, SessionID: r.SessionID, PID: r.PID, Detail: detail}
	if r.Process != nil {
		done.Invocation = r.Process.Invocation
	}
	return done
}

// Append adds one line to the journal, durably, under the journal's lock.
func (s *Store) Append(ctx context.Context, event Event) error {
	line, err := json.Marshal(event)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, recordLockWait)
	defer cancel()
	lock := s.lock("journal", os.O_CREATE|os.O_RDWR)
	if err := lockWithin(ctx, lock); err != nil {
		return s.lockFailed("journal", err)
	}
	defer lock.Close()
	f, err := s.openRegular(journal, os.O_APPEND|os.O_CREATE|os.O_RDWR)
	if errors.Is(err, smallfile.ErrIrregular) {
		return agent.Errorf(agent.Failed, "open %s/%s: %w", folder, journal, err).
			Hint("look at what it is, then move it aside: %s", moveTo(filepath.Join(s.project, folder, journal), ".aside"))
	}
	if err != nil {
		return s.remedied(fmt.Errorf("open %s/%s: %w", folder, journal, err))
	}
	line = append(line, '\n')
	if tornAtEnd(f) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return s.remedied(fmt.Errorf("write %s/%s: %w", folder, journal, err))
	}
	return nil
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

// memory is what the journal says of the last session id of each agent, by key. Reading it
// takes its time, and one command may meet with many damaged records.
type memory struct {
	mu   sync.Mutex
	size int64 // of the journal that was read; it only grows
	ids  map[string]agent.SessionID
}

// lastSessionID returns the id that the journal names last for the handle, or "".
func (s *Store) lastSessionID(handle agent.Handle) agent.SessionID {
	f, err := s.openRegular(journal, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	s.remembered.mu.Lock()
	defer s.remembered.mu.Unlock()
	if s.remembered.ids == nil || s.remembered.size != info.Size() {
		s.remembered.ids, s.remembered.size = lastSessionIDs(f), info.Size()
	}
	return s.remembered.ids[handle.Key()]
}

// lastSessionIDs reads a journal. What is no event, such as a line that was cut short or is
// longer than any of ours, is passed over and hides nothing behind it.
func lastSessionIDs(journal io.Reader) map[string]agent.SessionID {
	last := map[string]agent.SessionID{}
	lines := bufio.NewReaderSize(journal, eventLimit)
	for {
		line, err := lines.ReadSlice('\n')
		var event struct {
			Handle    agent.Handle    `json:"handle"`
			SessionID agent.SessionID `json:"session_id"`
		}
		if json.Unmarshal(line, &event) == nil {
			if id, err := agent.ParseSessionID(string(event.SessionID)); err == nil {
				last[event.Handle.Key()] = id
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil {
			return last
		}
	}
}
