package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"nbs-worker/internal/agent"
)

const reportLimit = 1 << 16 // bytes; a report has some hundred

// Report reads what the agent's claude said of itself last. A report that is absent or
// damaged is empty: it may be lost without harm.
func (s *Store) Report(handle agent.Handle) agent.Report {
	data, err := s.read(statuses, reportFile(handle), reportLimit)
	if err != nil {
		return agent.Report{}
	}
	var report agent.Report
	if json.Unmarshal(data, &report) != nil {
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
	ctx, cancel := context.WithTimeout(ctx, recordLockWait)
	defer cancel()
	lock := s.lock(handle.Key()+".status", os.O_CREATE|os.O_RDWR)
	if err := lockWithin(ctx, lock); err != nil {
		return s.lockFailed("status", err)
	}
	defer lock.Close()
	report := s.Report(handle)
	change(&report)
	return s.handOver(statuses, reportFile(handle), report, reportLimit)
}

// RemoveReport forgets what an agent said.
func (s *Store) RemoveReport(handle agent.Handle) error {
	err := s.nbs.Remove(statuses + "/" + reportFile(handle))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func reportFile(handle agent.Handle) string { return handle.Key() + ".json" }
