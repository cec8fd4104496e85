package store

import (
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/queue"
)

// leftAfter is the age from which another agent's file counts as left by a killed process: to write or take one takes
// milliseconds.
const leftAfter = time.Minute

// sweep removes what a killed process left: temporary files, and launch files that no
// launcher took, which hold an environment. The caller holds the agent's verb lock, so no other
// process writes launch files of the agent.
func (s *Store) sweep(handle agent.Handle, now time.Time) {
	s.launches().Sweep(now, func(name string, age time.Duration) bool { return age > leftAfter || temporaryOf(handle, name) })
	for _, sub := range []string{sessions, statuses, queue.Folder} {
		s.nbs.Sweep(sub, now, func(name string, age time.Duration) bool {
			return strings.HasPrefix(name, ".") && (age > leftAfter || sub == sessions && temporaryOf(handle, name) && s.unlocked(handle))
		})
	}
}

// temporaryOf reports whether a file is a temporary file for one of the agent's files. A handle has no dot, so no
// other agent's files begin like this.
func temporaryOf(handle agent.Handle, name string) bool {
	return strings.HasPrefix(strings.ToLower(name), "."+handle.Key()+".")
}

// unlocked reports whether the agent's record is not being written: each writer holds the record's lock. A writer
// that begins after this check has another temporary file.
func (s *Store) unlocked(handle agent.Handle) bool {
	unlock, _ := s.nbs.TryLock(recordLockName(handle))
	if unlock == nil {
		return false
	}
	unlock()
	return true
}
