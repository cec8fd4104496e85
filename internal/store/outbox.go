package store

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/queue"
)

// Outbox is what waits to be written to an agent.
func (s *Store) Outbox(handle agent.Handle) *queue.Queue {
	return queue.In(s.nbs, s.keeper, s.project, handle, s.prepare)
}
