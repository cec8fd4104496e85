package tmux

import (
	"context"
	"sync"

	"nbs-worker/internal/platform/portable"
)

// Servers is what one command knows about its tmux servers. A verb makes several calls through several clients; they
// share what one of them found out.
type Servers struct {
	isStuck func(pid int) bool

	mu        sync.Mutex
	bySocket  map[string]*health
	openFiles uint64
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

// filesLimit returns the soft limit of open files with which this program was started; 0 before the
// first call of tmux.
func (s *Servers) filesLimit() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openFiles
}

// OpenFiles returns the soft limit of open files with which this program was started; 0 if it cannot be read. Go
// raises its own limit and restores it in its children, so the limit is read from the first child: any tmux, or,
// before the first one, a child that is started for this only and ended at once.
func (c *Client) OpenFiles(ctx context.Context) uint64 {
	if c.shared.filesLimit() == 0 {
		if process, err := c.start(ctx, "/", "-V"); err == nil {
			process.drop()
		}
	}
	return c.shared.filesLimit()
}

// learnFrom reads the limit of a child. The child exists until it is waited for, at least as a zombie.
func (s *Servers) learnFrom(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit, err := portable.FilesLimit(pid); err == nil && s.openFiles == 0 {
		s.openFiles = limit.Cur
	}
}

// enough is the limit of open files that a server gets: one for each pane, and some for clients. It is not higher,
// even if the hard limit is in the millions: the server passes its limit to the windows that people open in it, and
// some programs try to close that many files.
const enough = 1 << 16

// giveFiles raises the soft limit of open files of a server that was just started. At its limit a server of tmux 3.3a
// spins and does not answer; the usual limit of 1024 is reached with some 1,000 sessions. A server that ran before,
// with the pid before in this namespace, keeps its own limit.
func (c *Client) giveFiles(before int) {
	pid, err := c.ServerPID()
	if err != nil || pid == before {
		return
	}
	if limit, err := portable.FilesLimit(pid); err == nil { // with fewer it works too
		limit.Cur = max(limit.Cur, min(limit.Max, enough))
		_ = portable.SetFilesLimit(pid, limit)
	}
}
