package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"nbs-worker/internal/agent"
)

// CheckWritable proves that all can be written which a verb has to write about an agent: its
// record, its launch file, its locks and the journal. A verb that is to end something asks
// before it does. Errors: those of writing.
func (s *Store) CheckWritable(ctx context.Context, handle agent.Handle, id agent.SessionID) error {
	if err := s.prepare(); err != nil {
		return err
	}
	unlock, err := s.lockRecord(ctx, handle)
	if err != nil {
		return err
	}
	defer unlock()
	for _, sub := range []string{sessions, launches} {
		if err := s.tryWrite(sub, handle); err != nil {
			return err
		}
	}
	lease, err := s.openRegular(locks+"/"+leaseName(id), os.O_CREATE|os.O_RDWR)
	if err != nil {
		return s.lockFailed(leaseName(id), err)
	}
	_ = lease.Close()
	journal, err := s.openJournal()
	if err != nil {
		return err
	}
	head, _, _, err := s.openHead()
	if err == nil {
		err = head.Close()
	}
	return errors.Join(err, journal.Close())
}

// tryWrite writes a file as large as a record usually is, and removes it.
func (s *Store) tryWrite(sub string, handle agent.Handle) error {
	const usual = 4 << 10 // bytes
	return s.in(sub, func(dir *os.Root) error {
		name := "." + handle.Key() + ".json.try"
		f, err := dir.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return s.remedied(fmt.Errorf("write in %s/%s: %w", folder, sub, err))
		}
		_, err = f.Write(make([]byte, usual))
		if err := errors.Join(err, f.Close(), dir.Remove(name)); err != nil {
			return s.remedied(fmt.Errorf("write in %s/%s: %w", folder, sub, err))
		}
		return nil
	})
}
