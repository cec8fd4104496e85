package runs

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
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
	name string // of its file
}

func (a *sealedAttempt) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "recovery", Place: a.name, Content: a.Attempt, Seal: &a.Seal}
}

func attemptFile(handle agent.Handle) string { return "recover-" + handle.Key() + ".json" }

// PutAttempt writes down the latest repair of an agent, durably.
func (r *Runs) PutAttempt(handle agent.Handle, attempt Attempt) error {
	attempt.Why, attempt.Failure = strings.ToValidUTF8(attempt.Why, "\uFFFD"), strings.ToValidUTF8(attempt.Failure, "\uFFFD") // as JSON keeps them
	name := attemptFile(handle)
	return r.nbs.Put(Folder, name, &sealedAttempt{Attempt: attempt, name: name}, fileLimit)
}

// Attempt returns the agent's latest repair, or nil if none is recorded. A damaged or unsealed attempt counts
// as none: it is only a hint, and the agent's observed state decides.
func (r *Runs) Attempt(handle agent.Handle) (*Attempt, error) {
	kept := sealedAttempt{name: attemptFile(handle)}
	switch err := r.nbs.Get(Folder, kept.name, &kept, fileLimit); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, trust.ErrSeal), errors.Is(err, sealed.ErrUnsealed):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &kept.Attempt, nil
}

// DropAttempt forgets the repairs of an agent.
func (r *Runs) DropAttempt(handle agent.Handle) error {
	return private.IfThere(r.nbs.Delete(Folder, attemptFile(handle)))
}
