package bridge

import "context"

// turn is held by who writes to a place: so that nothing comes between the parts of a long answer.
type turn chan struct{}

// turnOf returns the turn of a place. The caller holds mu.
func (b *Bridge) turnOf(at Place) turn {
	if b.turns[at] == nil {
		b.turns[at] = make(turn, 1)
	}
	return b.turns[at]
}

// during calls write once it is its turn. Errors: those of write, the context's.
func (t turn) during(ctx context.Context, write func() error) error {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t }()
	return write()
}
