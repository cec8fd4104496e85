package conversations

import (
	"context"
	"time"

	"nbs-worker/internal/fail"
)

// Stop says who stopped a turn, and when.
type Stop struct {
	Why string    `json:"why"` // "stopped by /stop"
	At  time.Time `json:"at"`
}

// Stop records that the first open turn is stopped. From then on it is not attempted: its runner ends it, or whoever
// runs the conversation next. To stop it again changes nothing. Errors: Conflict when the turn has finished or is not
// the first; Held when it is held.
func (c *Conversation) Stop(ctx context.Context, seq int, why string, at time.Time) error {
	return c.change(ctx, func(s *State) (*Line, error) {
		turn, err := c.openTurn(s, seq)
		switch {
		case err != nil:
			return nil, err
		case turn.Stop != nil:
			return nil, nil //nolint:nilnil // there is nothing to change
		case turn != &s.Open[0]:
			return nil, fail.Errorf(fail.Conflict, "turn %d waits for turn %d", seq, s.Open[0].Seq).
				Hint("to give it up: nbs-worker conversation skip %s %d", c.named(), seq)
		case turn.Held != nil && (turn.Held.Until.IsZero() || turn.Held.Until.After(at)):
			return nil, fail.Errorf(fail.Held, "turn %d does not run, it is held: %s", seq, turn.Held.Reason).
				Hint("to give it up: nbs-worker conversation skip %s %d", c.named(), seq)
		}
		return &Line{What: Stopped, At: at, Seq: seq, Reason: why}, nil
	})
}
