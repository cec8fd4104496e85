package store

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/store/private"
)

// StartsAtOnce is how many agents are started on a machine at a time: each start takes most of a
// core until claude is ready, and what is started on top of that only makes all of them late.
func StartsAtOnce() int { return min(4, runtime.NumCPU()) }

// turnRetry is how often who waits for a turn looks for one. A start takes half a second or more.
const turnRetry = 25 * time.Millisecond

// AwaitTurn takes one of the turns that the user's starts on this machine share, of all projects,
// until release. late is called once when there is none at first. Who has a turn waits for nobody
// without a limit of time, so that turns come free; that of a process which is suspended would not,
// and does not count. A turn spares the machine and protects nothing: where there can be none, the
// start goes without. Errors: those of the context.
func (s *Store) AwaitTurn(ctx context.Context, suspended func(pid int) bool, late func()) (release func(), err error) {
	if release, taken := s.tryTurn(suspended); taken {
		return release, nil
	}
	late()
	retry := time.NewTicker(turnRetry)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-retry.C:
		}
		if release, taken := s.tryTurn(suspended); taken {
			return release, nil
		}
	}
}

// tryTurn takes the first turn that is free.
func (s *Store) tryTurn(suspended func(pid int) bool) (release func(), taken bool) {
	for n, busy := 0, 0; busy < StartsAtOnce(); n++ {
		name := "start." + strconv.Itoa(n)
		lock, err := s.turns().TryLock(name)
		if err != nil {
			return func() {}, true
		}
		if lock != nil {
			_, _ = lock.WriteString(strconv.Itoa(os.Getpid()) + "\n") // over another's, which may have been longer
			return func() { _ = lock.Close() }, true
		}
		if !suspended(s.turnHolder(name)) {
			busy++
		}
	}
	return nil, false
}

// turnHolder is the process that took a turn last; 0 when that is not known.
func (s *Store) turnHolder(name string) (pid int) {
	const enough = 64 // bytes
	text, _ := s.turns().Read(name, enough)
	line, _, _ := strings.Cut(string(text), "\n")
	pid, _ = strconv.Atoi(line)
	return pid
}

// turns is where the turns of all projects are.
func (s *Store) turns() private.Tree {
	if s.Runtime() == "" {
		return private.NoTree
	}
	return private.Tree(filepath.Join(s.Runtime(), "starts"))
}
