package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/store/private"
)

// Folder returns the absolute path of .nbs.
func (s *Store) Folder() string { return filepath.Join(s.project, folder) }

// ErrNoLocks is the error for a disk on which two processes can hold the same file lock.
var ErrNoLocks = errors.New("file locks do not work")

// ProveFlock checks with a scratch file in the folder of the locks that a second descriptor cannot take a lock. On
// some network file systems both get it, without an error. Errors: [ErrNoLocks], and those of writing.
func (s *Store) ProveFlock() error {
	where := private.Locks
	if _, err := s.nbs.Lstat(where); err != nil {
		where = "." // no verb has made it yet
	}
	dir, err := s.nbs.OpenRoot(where)
	if err != nil {
		return err
	}
	defer dir.Close()
	name := fmt.Sprintf(".doctor.%d.%d", os.Getpid(), time.Now().UnixNano())
	first, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return s.nbs.Remedied(err)
	}
	defer func() { _ = dir.Remove(name) }()
	defer first.Close()
	second, err := dir.OpenFile(name, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer second.Close()
	if err := unix.Flock(int(first.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("%w: lock a file: %w", ErrNoLocks, err)
	}
	err = unix.Flock(int(second.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	}
	if err == nil {
		return fmt.Errorf("%w: two processes can hold the same lock", ErrNoLocks)
	}
	return fmt.Errorf("%w: lock a file that is locked: %w", ErrNoLocks, err)
}
