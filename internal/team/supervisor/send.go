package supervisor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/queue"
)

// Patience is how long a verb waits for another one.
type Patience = store.Patience

// LockToSend takes the verb lock for a verb that types into an agent's terminal.
func (s *Supervisor) LockToSend(ctx context.Context, handle agent.Handle, verb string, patience Patience) (unlock func(), err error) {
	return s.Project.Store.AwaitVerb(ctx, handle, verb, s.Project.Seconds(), patience)
}

// Until returns the patience of a verb that waits until late for any other verb; zero: without limit.
func Until(late time.Time) Patience {
	limit := time.Duration(math.MaxInt64)
	if !late.IsZero() {
		limit = time.Until(late)
	}
	return Patience{Short: limit, Other: limit}
}

// dropOutbox removes the waiting messages of an agent, and journals each of them.
func (s *Supervisor) dropOutbox(ctx context.Context, r *agent.Record) (dropped int, err error) {
	gone, err := s.Project.Store.Outbox(r.Handle).Clear(ctx)
	for i := range gone {
		err = errors.Join(err, s.Project.Note(ctx, "dropped", r, DroppedWords(&gone[i])))
	}
	return len(gone), err
}

// DroppedWords returns a text that says which message of an outbox was dropped, and how it begins.
func DroppedWords(e *queue.Entry) string {
	const shown = 1000 // characters
	text := []rune(e.Text)
	return fmt.Sprintf("message %s, %s: %s", e.ID, e.State, string(text[:min(len(text), shown)]))
}
