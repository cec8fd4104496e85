package store

import (
	"strings"
	"time"

	"nbs-worker/internal/agent"
)

// leftAfter is the age from which a file of another agent counts as left by a killed
// process: writing one, or taking it up, takes milliseconds.
const leftAfter = time.Minute

// sweep removes what a killed process left: temporary files, and launch files that no
// launcher took, which hold an environment. The caller holds the agent's verb lock.
// What cannot be removed now is removed by the next verb.
func (s *Store) sweep(handle agent.Handle, now time.Time) {
	s.sweepLaunches(handle, now)
	names, err := s.nbs.Names(sessions)
	if err != nil {
		return
	}
	for _, name := range names {
		if !strings.HasPrefix(name, ".") {
			continue
		}
		info, err := s.nbs.Lstat(sessions + "/" + name)
		old := err == nil && now.Sub(info.ModTime()) > leftAfter
		if old || temporaryOf(handle, name) && s.unlocked(handle) {
			_ = s.nbs.Remove(sessions + "/" + name)
		}
	}
}

// sweepLaunches removes launch files that are old, and half-written ones of this agent: only the
// holder of the verb lock writes them.
func (s *Store) sweepLaunches(handle agent.Handle, now time.Time) {
	launches := s.launches()
	names, err := launches.Names()
	if err != nil {
		return
	}
	for _, name := range names {
		stat, err := launches.Stat(name)
		old := err == nil && now.Sub(time.Unix(stat.Mtim.Unix())) > leftAfter
		if old || temporaryOf(handle, name) {
			_ = launches.Remove(name)
		}
	}
}

// temporaryOf tells whether a file is a writer's half-done work on a file of the agent.
// A handle has no dot, so no other agent's files begin like this.
func temporaryOf(handle agent.Handle, name string) bool {
	return strings.HasPrefix(strings.ToLower(name), "."+handle.Key()+".")
}

// unlocked tells whether nobody is writing the agent's record: each writer holds the
// record's lock. One who begins right after this look has another temporary file.
func (s *Store) unlocked(handle agent.Handle) bool {
	lock, err := s.nbs.TryLock(recordLockName(handle))
	if err != nil || lock == nil {
		return false
	}
	return lock.Close() == nil
}
