package tmux

import "sync"

// Servers is what one command knows about its tmux servers. A verb makes several calls through several clients; they
// share what one of them found out.
type Servers struct {
	mu       sync.Mutex
	bySocket map[string]*health
}

// NewServers returns the Servers of a command that has just begun.
func NewServers() *Servers { return &Servers{bySocket: map[string]*health{}} }

// at returns the state that the clients of one socket share.
func (s *Servers) at(path string) *health {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bySocket[path] == nil {
		s.bySocket[path] = &health{}
	}
	return s.bySocket[path]
}
