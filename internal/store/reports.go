package store

import (
	"context"
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

const reportLimit = 1 << 16 // bytes; a report has some hundred

// Report reads the latest report of an agent's claude. A report that is absent or damaged is
// empty: it may be lost without harm.
func (s *Store) Report(handle agent.Handle) agent.Report {
	data, err := s.nbs.Read(statuses, reportFile(handle), reportLimit)
	if err != nil {
		return agent.Report{}
	}
	report, err := agent.ParseReport(data)
	if err != nil {
		return agent.Report{}
	}
	return report
}

// UpdateReport changes an agent's report under its lock. It is not synced to the disk: what
// it says ends with this boot.
func (s *Store) UpdateReport(ctx context.Context, handle agent.Handle, change func(*agent.Report)) error {
	if err := s.prepare(); err != nil {
		return err
	}
	unlock, err := s.nbs.Lock(ctx, handle.Key()+".status")
	if err != nil {
		return err
	}
	defer unlock()
	report := s.Report(handle)
	change(&report)
	return s.nbs.HandOver(statuses, reportFile(handle), report, reportLimit)
}

// RemoveReport removes an agent's report.
func (s *Store) RemoveReport(handle agent.Handle) error {
	return private.IfThere(s.nbs.Remove(statuses + "/" + reportFile(handle)))
}

// Watched returns the two files that change with an agent: its record and its report. Both are replaced by renaming,
// and may be missing.
func (s *Store) Watched(handle agent.Handle) (record, report string) {
	nbs := filepath.Join(s.project, folder)
	return filepath.Join(nbs, sessions, recordFile(handle)), filepath.Join(nbs, statuses, reportFile(handle))
}

// RecordOf returns the agent whose record is at a path. isRecord is false for any other path.
func (s *Store) RecordOf(path string) (handle agent.Handle, isRecord bool) {
	stem, isJSON := strings.CutSuffix(filepath.Base(path), ".json")
	handle, err := agent.ParseHandle(stem)
	return handle, isJSON && err == nil && filepath.Dir(path) == filepath.Join(s.project, folder, sessions)
}

func reportFile(handle agent.Handle) string { return handle.Key() + ".json" }
