package runs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/trust"
)

// Attempt is the latest repair of an agent. It shows whether the run was killed or ended, and that
// a repair need not be tried again in the same conversation.
type Attempt struct {
	SessionID agent.SessionID `json:"session_id"` // of the conversation in which it was begun
	Level     int             `json:"level"`
	Why       string          `json:"why"` // in words
	Begun     time.Time       `json:"begun"`
	Ended     time.Time       `json:"ended,omitzero"`    // zero: it was cut short
	Failure   string          `json:"failure,omitempty"` // "": it was done
	Floor     bool            `json:"floor,omitempty"`   // to compact this conversation frees nothing
}

// sealedAttempt is an attempt with the user's seal: a level that was permitted, and words that an
// agent is told, must not come from a file that came with the project.
type sealedAttempt struct {
	Attempt

	Seal string `json:"seal"`
}

const attemptKind = "recovery" // of its seals

func attemptFile(handle agent.Handle) string { return "recover-" + handle.Key() + ".json" }

// PutAttempt writes down the latest repair of an agent, durably.
func (r *Runs) PutAttempt(handle agent.Handle, attempt Attempt) error {
	seal, err := r.keeper.SealAt(attemptKind, r.project, attemptFile(handle), attempt.asKept())
	if err != nil {
		return err
	}
	return r.nbs.WriteJSON(Folder, attemptFile(handle), sealedAttempt{attempt, seal}, fileLimit)
}

// Attempt is the latest repair of an agent; nil for none that is remembered. A damaged one is none,
// nor one that nobody vouches for: it is a help, and what is seen of the agent decides.
func (r *Runs) Attempt(handle agent.Handle) (*Attempt, error) {
	data, err := r.nbs.Read(Folder, attemptFile(handle), fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var put sealedAttempt
	_ = json.Unmarshal(data, &put) // nobody vouches for a damaged one
	err = r.keeper.CheckAt(attemptKind, r.project, attemptFile(handle), put.Attempt.asKept(), put.Seal)
	if errors.Is(err, trust.ErrSeal) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &put.Attempt, nil
}

// asKept is an attempt as JSON keeps it.
func (a Attempt) asKept() Attempt {
	a.Why, a.Failure = strings.ToValidUTF8(a.Why, "\uFFFD"), strings.ToValidUTF8(a.Failure, "\uFFFD")
	return a
}

// DropAttempt forgets the repairs of an agent.
func (r *Runs) DropAttempt(handle agent.Handle) error {
	return private.IfThere(r.nbs.Delete(Folder, attemptFile(handle)))
}
