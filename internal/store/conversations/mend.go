package conversations

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
)

// Void takes back the last attempt at an open turn, if it has this invocation: no claude had the text, and none will.
func (c *Conversation) Void(ctx context.Context, seq int, invocation agent.Invocation) error {
	return c.change(ctx, func(s *State) (*Line, error) {
		turn, err := c.openTurn(s, seq)
		if err != nil {
			return nil, err
		}
		if n := len(turn.Starts); n == 0 || turn.Starts[n-1].Invocation != invocation {
			return nil, nil //nolint:nilnil // there is nothing to change
		}
		return &Line{What: Voided, At: time.Now().UTC(), Seq: seq}, nil
	})
}

// Hasten lets the first open turn be tried now if it waits for a later time, or for a person, and is returns true for
// why. Its attempts are counted as before.
func (c *Conversation) Hasten(ctx context.Context, now time.Time, is func(*Held) bool) error {
	return c.change(ctx, func(s *State) (*Line, error) {
		if len(s.Open) == 0 || s.Open[0].Held == nil {
			return nil, nil //nolint:nilnil // there is nothing to change
		}
		held := *s.Open[0].Held
		if due := !held.Until.IsZero() && !held.Until.After(now); due || !is(&held) {
			return nil, nil //nolint:nilnil // there is nothing to change
		}
		held.Until, held.Uncounted = now.UTC(), false
		return &Line{What: HeldUp, At: now.UTC(), Seq: s.Open[0].Seq, Held: &held}, nil
	})
}
