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

// Folder is the absolute path of .nbs.
func (s *Store) Folder() string { return filepath.Join(s.project, folder) }

// ErrNoLocks says that locks do not do what they are for.
var ErrNoLocks = errors.New("file locks do not work")

// ProveFlock tries on a scratch file whether two descriptors exclude each other where the
// locks are. On some network file systems both get the lock, without a word.
// Errors: [ErrNoLocks], and those of writing.
func (s *Store) ProveFlock() error {
	dir, err := s.nbs.OpenRoot(".")
	if _, lstatErr := s.nbs.Lstat(private.Locks); lstatErr == nil {
		_ = dir.Close()
		dir, err = s.nbs.OpenRoot(private.Locks)
	}
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
		return fmt.Errorf("%w: two got the same lock at once", ErrNoLocks)
	}
	return fmt.Errorf("%w: lock a file that is locked: %w", ErrNoLocks, err)
}

// DiskType is the kind of file system that holds the project: "ext4"; a number in hexadecimal when
// it is not known by name.
func (s *Store) DiskType() (string, error) {
	path := s.project
	if s.Exists() {
		path = s.Folder()
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return "", err
	}
	return diskType(stat.Type), nil
}

func diskType(magic int64) string {
	for name, known := range map[string]int64{
		"ext4": unix.EXT4_SUPER_MAGIC, "xfs": unix.XFS_SUPER_MAGIC, "btrfs": unix.BTRFS_SUPER_MAGIC, "tmpfs": unix.TMPFS_MAGIC,
		"overlay": unix.OVERLAYFS_SUPER_MAGIC, "nfs": unix.NFS_SUPER_MAGIC, "9p": unix.V9FS_MAGIC, "fuse": unix.FUSE_SUPER_MAGIC,
		"smb": unix.SMB_SUPER_MAGIC, "smb2": unix.SMB2_SUPER_MAGIC, "cifs": unix.CIFS_SUPER_MAGIC, "ceph": unix.CEPH_SUPER_MAGIC,
		"afs": unix.AFS_SUPER_MAGIC, "f2fs": unix.F2FS_SUPER_MAGIC, "zfs": 0x2fc12fc1, "virtiofs": 0x6a656a63, "lustre": 0x0bd00bd0,
	} {
		if magic == known {
			return name
		}
	}
	return fmt.Sprintf("%#x", magic)
}
