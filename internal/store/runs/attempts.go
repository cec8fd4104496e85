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
	if r.keeper == nil {
		return private.ErrNoTree
	}
	content, err := r.attemptContent(handle, attempt)
	if err != nil {
		return err
	}
	seal, err := r.keeper.Seal(attemptKind, content)
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
	if r.keeper == nil {
		return nil, private.ErrNoTree
	}
	var put sealedAttempt
	_ = json.Unmarshal(data, &put) // nobody vouches for a damaged one
	content, err := r.attemptContent(handle, put.Attempt)
	if err != nil {
		return nil, err
	}
	err = r.keeper.Check(attemptKind, content, put.Seal)
	if errors.Is(err, trust.ErrSeal) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &put.Attempt, nil
}

// attemptContent is what the seal of an attempt is made for: as it is, of this agent of this project.
func (r *Runs) attemptContent(handle agent.Handle, attempt Attempt) ([]byte, error) {
	attempt.Why = strings.ToValidUTF8(attempt.Why, "�") // as JSON keeps it
	attempt.Failure = strings.ToValidUTF8(attempt.Failure, "�")
	content, err := json.Marshal(attempt)
	return trust.Placed(content, r.project, attemptFile(handle)), err
}

// DropAttempt forgets the repairs of an agent.
func (r *Runs) DropAttempt(handle agent.Handle) error {
	return private.IfThere(r.nbs.Delete(Folder, attemptFile(handle)))
}
