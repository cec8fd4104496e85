package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"nbs-worker/internal/agent"
)

// Attempt is the latest repair of an agent: what tells a run that was killed from one that ended,
// and that a repair need not be tried again in the same conversation.
type Attempt struct {
	SessionID agent.SessionID `json:"session_id"` // of the conversation in which it was begun
	Level     int             `json:"level"`
	Why       string          `json:"why"` // in words
	Begun     time.Time       `json:"begun"`
	Ended     time.Time       `json:"ended,omitzero"`    // zero: it was cut short
	Failure   string          `json:"failure,omitempty"` // "": it was done
	Floor     bool            `json:"floor,omitempty"`   // to compact this conversation frees nothing
}

const recoveryLock = "recover.run"

// LockRecovery takes the right to repair agents of the project. It does not wait. Errors: Conflict,
// naming the holder.
func (s *Store) LockRecovery(verb string, now time.Time) (unlock func(), err error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s.tryLock(recoveryLock, Holder{PID: os.Getpid(), Verb: verb, Handle: "agents", Since: now}, func(by string) error {
		return agent.Errorf(agent.Conflict, "agents of the project are being repaired already: %s", by).
			Hint("see what it does: nbs-worker events --follow")
	})
}

func attemptFile(handle agent.Handle) string { return "recover-" + handle.Key() + ".json" }

// PutAttempt writes down the latest repair of an agent, durably.
func (s *Store) PutAttempt(handle agent.Handle, attempt Attempt) error {
	return s.nbs.WriteJSON(runs, attemptFile(handle), attempt, fileLimit)
}

// Attempt is the latest repair of an agent; nil for none that is remembered. A damaged one is none:
// it is a help, and what is seen of the agent decides.
func (s *Store) Attempt(handle agent.Handle) (*Attempt, error) {
	data, err := s.nbs.Read(runs, attemptFile(handle), fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseAttempt(data), nil
}

func parseAttempt(data []byte) *Attempt {
	var attempt Attempt
	if json.Unmarshal(data, &attempt) != nil {
		return nil
	}
	return &attempt
}

// DropAttempt forgets the repairs of an agent.
func (s *Store) DropAttempt(handle agent.Handle) error {
	err := s.nbs.Delete(runs, attemptFile(handle))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
