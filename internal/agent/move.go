package agent

import (
	"nbs-worker/internal/fail"

	"github.com/google/uuid"
)

// HostMove is in the record of an agent that moves to another machine: in the record there that it leaves, until that is
// removed, and in the new one. While it leaves, no verb starts the agent.
type HostMove struct {
	ID      string  `json:"id"`                // the same on both machines
	To      string  `json:"to,omitempty"`      // the name of the machine that it moves to; "": it has arrived here
	Command string  `json:"command,omitempty"` // completes the move, where it was begun
	Desired Desired `json:"desired,omitempty"` // the state that was wanted before
	Runs    bool    `json:"runs,omitzero"`     // it ran before, and is to run where it arrives
}

// NewMoveID returns the id of a new move.
func NewMoveID() string { return uuid.NewString() }

// CheckMoveID checks an id of a move: it becomes a part of file names. Errors: BadInput.
func CheckMoveID(id string) error {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return fail.Errorf(fail.BadInput, "the id of a move is a UUID in small letters")
	}
	return nil
}

// IsLeaving reports whether the agent of a record is on its way to another machine.
func (r *Record) IsLeaving() bool { return r.Move != nil && r.Move.To != "" }

// Leaves says that a move was not completed, with the command that completes it.
func (r *Record) Leaves() string {
	return "it is being moved to " + r.Move.To + "; if that was interrupted: " + r.Move.Command
}

func (m *HostMove) validate() error {
	if m == nil {
		return nil
	}
	if err := CheckMoveID(m.ID); err != nil {
		return err
	}
	const most = 200 // characters
	for _, text := range []string{m.To, m.Command} {
		if err := CheckText("move", text); err != nil || len(text) > most {
			return fail.Errorf(fail.BadInput, "the field move has a text that is no name and no command")
		}
	}
	return nil
}
