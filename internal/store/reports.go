package store

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/smallfile"
)

const reportLimit = 1 << 16 // bytes; a report has some hundred

// Report reads what the agent's claude said of itself last. A report that is absent or
// damaged is empty: it may be lost without harm.
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

// Reports reads many reports.
type Reports struct {
	dir  smallfile.Dir
	none bool
}

// Reports opens the folder of the reports. Without one there are none.
func (s *Store) Reports() Reports {
	dir, err := s.nbs.Files(statuses)
	return Reports{dir: dir, none: err != nil}
}

// Close closes the folder.
func (r Reports) Close() error {
	if r.none {
		return nil
	}
	return r.dir.Close()
}

// Gauge is what the status line of the recorded start said of the recorded conversation;
// nil when it said nothing. It may be called side by side.
func (r Reports) Gauge(record *agent.Record) *agent.Gauge {
	if r.none {
		return nil
	}
	var report agent.Report
	err := r.dir.ViewOwn(reportFile(record.Handle), reportLimit, func(data []byte) (err error) {
		report, err = agent.ParseReport(data)
		return err
	})
	if err != nil {
		return nil
	}
	return record.GaugeOf(report)
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

// RemoveReport forgets what an agent said.
func (s *Store) RemoveReport(handle agent.Handle) error {
	err := s.nbs.Remove(statuses + "/" + reportFile(handle))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Watched are the files by which a change of an agent shows: its record and its report. Both
// are replaced by renaming, and neither need be there.
func (s *Store) Watched(handle agent.Handle) (record, report string) {
	nbs := filepath.Join(s.project, folder)
	return filepath.Join(nbs, sessions, recordFile(handle)), filepath.Join(nbs, statuses, reportFile(handle))
}

func reportFile(handle agent.Handle) string { return handle.Key() + ".json" }
