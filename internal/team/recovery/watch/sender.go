package watch

import (
	"context"
	"time"
)

// Sender sends the pending notices of a state, one at a time.
type Sender struct {
	Next time.Time // when to try again; zero, or past: now

	deaf bool // the last notice failed, and that was reported
}

// One sends the oldest notice, and reports whether it tried: then the state is to be kept. A failed notice is tried a few
// times, with a pause between; failed is called for the first in a row.
func (s *Sender) One(ctx context.Context, teller Teller, perHour int, state *State, failed func(*Notice, error)) bool {
	const tries, pause = 3, time.Minute
	now := time.Now()
	if len(state.Pending) == 0 || s.Next.After(now) {
		return false
	}
	state.forget(now)
	if len(state.ToldAt) >= perHour {
		s.Next = state.ToldAt[0].Add(window)
		return false
	}
	notice := &state.Pending[0]
	err := teller.Tell(ctx, *notice)
	switch {
	case ctx.Err() != nil:
		return false // the next watch sends it
	case err != nil && !s.deaf:
		failed(notice, err)
	}
	if s.deaf = err != nil; s.deaf {
		notice.Tries++
		s.Next = now.Add(pause)
	}
	if err == nil || notice.Tries >= tries {
		state.Pending = state.Pending[1:]
		state.ToldAt = append(state.ToldAt, now)
	}
	return true
}

// Pend keeps a notice until it is sent; if there are too many, it keeps the latest.
func (m *State) Pend(notice Notice) {
	const most = 100
	m.Pending = append(m.Pending, notice)
	m.Pending = m.Pending[max(0, len(m.Pending)-most):]
}
