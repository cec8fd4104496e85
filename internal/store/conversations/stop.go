package conversations

import (
	"cmp"
	"context"
	"slices"
	"time"

	"nbs-worker/internal/fail"
)

// Stop says who stopped a turn, and when.
type Stop struct {
	Why string    `json:"why"` // "stopped by /stop"
	At  time.Time `json:"at"`
}

// Stop records that the first open turn is stopped, or a turn that has ended while its claude goes on. From then on it
// is not attempted. Its runner ends it, or the next runner of the conversation. To stop it again changes nothing.
// Errors: Conflict when the turn has finished or is not the first; Held when it is held.
func (c *Conversation) Stop(ctx context.Context, seq int, why string, at time.Time) error {
	return c.change(ctx, func(s *State) (*Line, error) {
		stop := &Line{What: Stopped, At: at, Seq: seq, Reason: why}
		if left := s.Left(seq); left != nil && left.Stop == nil {
			return stop, nil
		} else if left != nil {
			return nil, nil //nolint:nilnil // there is nothing to change
		}
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
		return stop, nil
	})
}

// Left returns the turn with this number if it has ended and its claude may go on; nil otherwise. That lasts until a
// notice says that the claude was ended, or the next turn of its kind begins. Its id is that of the turn to which belongs
// what comes. There is at most one in the session, and one isolated.
func (s *State) Left(seq int) *Turn {
	if i := slices.IndexFunc(s.Lingering, func(left Turn) bool { return left.Seq == seq }); i >= 0 {
		return &s.Lingering[i]
	}
	return nil
}

// linger notes that the claude of a turn goes on after its end. A text that Claude did not take has no part in that.
func (s *State) linger(turn *Turn, class string) {
	left := turn.ended()
	if class != "" {
		left.ID = cmp.Or(s.Last, turn.ID)
	}
	s.Lingering = append(s.Lingering, *left)
}

// ended returns what is kept of a turn that has ended: its last attempt.
func (t *Turn) ended() *Turn {
	return &Turn{Seq: t.Seq, ID: t.ID, At: t.At, Isolated: t.Isolated, Starts: slices.Clone(t.Starts[max(0, len(t.Starts)-1):])}
}
