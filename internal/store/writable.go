package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"nbs-worker/internal/agent"
)

// CheckWritable proves that all can be written which a verb has to write about an agent: its
// record, its launch file, its locks and the journal. A verb that is to end something asks
// before it does. Errors: those of writing.
func (s *Store) CheckWritable(ctx context.Context, handle agent.Handle, id agent.SessionID, launch Launch) error {
	if err := s.prepare(); err != nil {
		return err
	}
	unlock, err := s.lockRecord(ctx, handle)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.tryWrites(handle, launch); err != nil {
		return err
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

// tryWrites writes files as large as a record and a launch file are, and removes them. Both are
// there at the same time, as in a start.
func (s *Store) tryWrites(handle agent.Handle, launch Launch) error {
	const grows = 8 << 10 // bytes: a screen, what is new of a start
	text, err := json.Marshal(launch)
	if err != nil {
		return err
	}
	sizes := map[string]int64{sessions: grows, launches: grows + int64(len(text))}
	if info, err := os.Stat(s.absolute(handle)); err == nil {
		sizes[sessions] += info.Size()
	}
	for _, sub := range []string{sessions, launches} {
		remove, err := s.tryWrite(sub, handle, sizes[sub])
		defer remove()
		if err != nil {
			return s.remedied(fmt.Errorf("write in %s/%s: %w", folder, sub, err))
		}
	}
	return nil
}

func (s *Store) tryWrite(sub string, handle agent.Handle, size int64) (remove func(), err error) {
	path := sub + "/." + handle.Key() + ".json.try"
	if err := s.nbs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of one that was killed
		return func() {}, err
	}
	f, err := s.nbs.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return func() {}, err
	}
	_, err = f.Write(make([]byte, size))
	return func() { _ = s.nbs.Remove(path) }, errors.Join(err, f.Close())
}
