package store

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"nbs-worker/internal/agent"
)

// Leftover is a file of somebody who was killed: half written, or never taken.
type Leftover struct {
	Name string // below .nbs
	Age  time.Duration
}

// Leftovers lists temporary files and launch files that are older than the age.
func (s *Store) Leftovers(now time.Time, age time.Duration) []Leftover {
	var left []Leftover
	for _, sub := range []string{sessions, launches, statuses, locks} {
		names, err := s.names(sub)
		if err != nil {
			continue
		}
		for _, name := range names {
			info, err := s.nbs.Lstat(sub + "/" + name)
			if err != nil || !info.Mode().IsRegular() || sub != launches && !isTemporary(name) {
				continue
			}
			if old := now.Sub(info.ModTime()); old > age {
				left = append(left, Leftover{Name: sub + "/" + name, Age: old})
			}
		}
	}
	return left
}

// isTemporary tells the names that a writer uses before it renames: ".x.json" and what
// renameio makes of it, and the scratch files of the doctor.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && (strings.Contains(name, ".json") || strings.HasPrefix(name, ".doctor."))
}

// RemoveLeftover removes one, unless it was written again since.
func (s *Store) RemoveLeftover(l Leftover, now time.Time, age time.Duration) error {
	info, err := s.nbs.Lstat(l.Name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && now.Sub(info.ModTime()) <= age {
		return nil
	}
	if err != nil {
		return err
	}
	return s.nbs.Remove(l.Name)
}

// LostReports lists the reports of agents that have no record, by key.
func (s *Store) LostReports() ([]agent.Handle, error) {
	names, err := s.names(statuses)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	handles, err2 := s.Handles()
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, handle := range handles {
		known[handle.Key()] = true
	}
	var lost []agent.Handle
	for _, name := range names {
		key, isReport := strings.CutSuffix(name, ".json")
		if handle, err := agent.ParseHandle(key); isReport && err == nil && !known[handle.Key()] {
			lost = append(lost, handle)
		}
	}
	return lost, nil
}
