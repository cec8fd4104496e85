package serve

import (
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/store/conversations"
)

// listener listens to a turn. Heard must not block.
type listener struct {
	key   conversations.Key
	id    string
	heard func(conversation.Progress)
}

// Hear calls heard with what claude does in a turn, as it does it, until leave is called. Heard must not block.
func (s *Server) Hear(key conversations.Key, id string, heard func(conversation.Progress)) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &listener{key, id, heard}
	s.hearing[l] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.hearing, l)
	}
}

// heard passes on what claude does in a turn.
func (s *Server) heard(key conversations.Key, id string, p conversation.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.hearing {
		if l.key == key && l.id == id {
			l.heard(p)
		}
	}
}
