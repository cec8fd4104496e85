package store

import (
	"strings"
	"time"

	"nbs-worker/internal/agent"
)

// leftAfter is the age at which a file of another agent was left by somebody who was
// killed: writing one, or taking it up, takes milliseconds.
const leftAfter = time.Minute

// sweep removes what a killed process left: temporary files, and launch files that no
// launcher took, which hold an environment. The caller holds the agent's verb lock.
// What cannot be removed now is removed by the next verb.
func (s *Store) sweep(handle agent.Handle, now time.Time) {
	s.sweepFolder(launches, now, func(name string) bool {
		return temporaryOf(handle, name) // whoever writes a launch file holds the verb lock
	})
	s.sweepFolder(sessions, now, func(name string) bool {
		return temporaryOf(handle, name) && s.unlocked(handle)
	})
}

// sweepFolder removes what is old, and what nobody can be writing any more.
func (s *Store) sweepFolder(folder string, now time.Time, abandoned func(name string) bool) {
	names, err := s.names(folder)
	if err != nil {
		return
	}
	for _, name := range names {
		temporary := folder == launches || strings.HasPrefix(name, ".")
		if temporary && (abandoned(name) || s.isOld(folder, name, now)) {
			_ = s.nbs.Remove(folder + "/" + name)
		}
	}
}

func (s *Store) isOld(folder, name string, now time.Time) bool {
	info, err := s.nbs.Lstat(folder + "/" + name)
	return err == nil && now.Sub(info.ModTime()) > leftAfter
}

// temporaryOf tells whether a file is a writer's half-done work on a file of the agent.
// A handle has no dot, so no other agent's files begin like this.
func temporaryOf(handle agent.Handle, name string) bool {
	return strings.HasPrefix(strings.ToLower(name), "."+handle.Key()+".")
}

// unlocked tells whether nobody is writing the agent's record: each writer holds the
// record's lock. One who begins right after this look has another temporary file.
func (s *Store) unlocked(handle agent.Handle) bool {
	lock := s.recordLock(handle)
	locked, err := lock.TryLock()
	_ = lock.Close()
	return locked && err == nil
}
