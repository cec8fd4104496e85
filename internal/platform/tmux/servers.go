package tmux

import "sync"

// Servers is what one command knows about its tmux servers. A verb makes several calls through several clients; they
// share what one of them found out.
type Servers struct {
	isStuck func(pid int) bool

	mu       sync.Mutex
	bySocket map[string]*health
}

// NewServers returns the Servers of a command that has just begun. isStuck reports whether the process of a server
// cannot answer.
func NewServers(isStuck func(pid int) bool) *Servers {
	return &Servers{isStuck: isStuck, bySocket: map[string]*health{}}
}

// noneIsStuck serves callers that do not check processes.
func noneIsStuck(int) bool { return false }

// at returns the state that the clients of one socket share.
func (s *Servers) at(path string) *health {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bySocket[path] == nil {
		s.bySocket[path] = &health{}
	}
	return s.bySocket[path]
}
