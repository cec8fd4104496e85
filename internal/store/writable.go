package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

// CheckWritable checks that a verb can write all files that it needs for an agent: its record, its launch file, its
// locks and the journal. A verb that will end something calls it first. Errors: those of writing.
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
	lease, err := s.nbs.OpenRegular(private.Locks+"/"+leaseName(id), os.O_CREATE|os.O_RDWR)
	if err != nil {
		return s.nbs.LockFailed(leaseName(id), err)
	}
	_ = lease.Close()
	return s.journal.CheckWritable()
}

// tryWrites writes files of the size of a record and a launch file, and removes them. Both exist at the same time, as
// in a start.
func (s *Store) tryWrites(handle agent.Handle, launch Launch) error {
	text, err := json.Marshal(launch)
	if err != nil {
		return err
	}
	remove, err := s.tryRecord(handle)
	defer remove()
	if err != nil {
		return err
	}
	return s.launches().In(func(dir *os.Root, _ *os.File) error {
		remove, err := tryFile(dir, tryName(handle), grows+int64(len(text)))
		defer remove()
		if err != nil {
			return s.launches().Remedied(fmt.Errorf("write in %s: %w", s.launches(), err))
		}
		return nil
	})
}

// grows is how much longer a record or a launch file may become in a start, in bytes: a screen, and the new data of
// the start.
const grows = 8 << 10

// tryRecord writes a file as large as the record of an agent will be.
func (s *Store) tryRecord(handle agent.Handle) (remove func(), err error) {
	size := int64(grows)
	if info, err := os.Stat(s.absolute(handle)); err == nil {
		size += info.Size()
	}
	if remove, err = tryFile(s.nbs.Root, sessions+"/"+tryName(handle), size); err != nil {
		err = s.nbs.Remedied(fmt.Errorf("write in %s/%s: %w", folder, sessions, err))
	}
	return remove, err
}

func tryName(handle agent.Handle) string { return "." + handle.Key() + ".json.try" }

func tryFile(dir *os.Root, path string, size int64) (remove func(), err error) {
	if err := dir.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of one that was killed
		return func() {}, err
	}
	f, err := dir.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return func() {}, err
	}
	_, err = f.Write(make([]byte, size))
	return func() { _ = dir.Remove(path) }, errors.Join(err, f.Close())
}
