package store

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/store/private"
)

// Signature is what is written in a lock file, and where that file is.
type Signature struct {
	Holder Holder
	Name   string // of the lock file
	Inode  string // "fd:01:5678", as /proc/locks has it
}

// Signatures lists the lock files that name a holder.
func (s *Store) Signatures() []Signature {
	names, err := s.nbs.Names(private.Locks)
	if err != nil {
		return nil
	}
	var signed []Signature
	for _, name := range names {
		holder, err := s.readHolder(name)
		if err != nil {
			continue
		}
		info, err := s.nbs.Lstat(private.Locks + "/" + name)
		if err != nil {
			continue
		}
		stat := info.Sys().(*syscall.Stat_t)
		device := uint64(stat.Dev) //nolint:unconvert // an int32 on macOS
		inode := fmt.Sprintf("%02x:%02x:%d", unix.Major(device), unix.Minor(device), stat.Ino)
		signed = append(signed, Signature{Holder: holder, Name: name, Inode: inode})
	}
	return signed
}
