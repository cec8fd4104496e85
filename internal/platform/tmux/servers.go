package tmux

import (
	"context"
	"sync"

	"golang.org/x/sys/unix"
)

// Servers is what one command knows of the tmux servers that it talks to. A verb
// makes several calls through several clients; what one of them found out holds for
// the others.
type Servers struct {
	isStuck func(pid int) bool

	mu        sync.Mutex
	bySocket  map[string]*health
	openFiles uint64
}

// NewServers returns the Servers of a command that has just begun. isStuck reports whether the process of a
// server shows that it cannot answer.
func NewServers(isStuck func(pid int) bool) *Servers {
	return &Servers{isStuck: isStuck, bySocket: map[string]*health{}}
}

// noneIsStuck is for callers that do not look at processes.
func noneIsStuck(int) bool { return false }

// at returns what the clients of one socket share.
func (s *Servers) at(path string) *health {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bySocket[path] == nil {
		s.bySocket[path] = &health{}
	}
	return s.bySocket[path]
}

// filesLimit is the soft limit of open files with which this program was started; 0 before the
// first call of tmux.
func (s *Servers) filesLimit() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openFiles
}

// OpenFiles is the soft limit of open files with which this program was started; 0 when it
// cannot be read. Go raises its own limit and restores it in its children, so it is read of the
// first child: any tmux, or, when there was none yet, one that is started for nothing else and ended
// at once.
func (c *Client) OpenFiles(ctx context.Context) uint64 {
	if c.shared.filesLimit() == 0 {
		if process, err := c.start(ctx, "/", "-V"); err == nil {
			process.drop()
		}
	}
	return c.shared.filesLimit()
}

// learnFrom reads the limit of a child, which exists until it is waited for, at least as a
// zombie.
func (s *Servers) learnFrom(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var limit unix.Rlimit
	if s.openFiles == 0 && unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit) == nil {
		s.openFiles = limit.Cur
	}
}

// enough is the limit of open files that a server is given: one for each pane, and some
// for clients. Not more, where the hard limit is in the millions: the server hands its
// limit to the windows that people open in it, and some programs try to close them all.
const enough = 1 << 16

// giveFiles raises the soft limit of open files of a server that was just started: at that limit a
// server of tmux 3.3a spins and answers nobody, at the usual 1024 with some 1,000 sessions. The server that
// was there before, by its pid in this namespace, keeps its own.
func (c *Client) giveFiles(before int) {
	pid, err := c.ServerPID()
	var limit unix.Rlimit
	if err != nil || pid == before || unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &limit) != nil {
		return // with fewer it works too
	}
	limit.Cur = max(limit.Cur, min(limit.Max, enough))
	_ = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &limit, nil)
}
