package private

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/smallfile"
)

// OwnFile is an open regular file of this user.
type OwnFile struct {
	*os.File

	Seen unix.Stat_t // before anything was read
}

// OpenOwn opens a file in a folder for reading, and no link to one; a pipe in its place is not waited
// for. Without a folder the name is a path. Errors: [fs.ErrNotExist], [smallfile.ErrIrregular], BadInput.
func OpenOwn(dir *os.File, name string) (*OwnFile, error) {
	in, path := unix.AT_FDCWD, name
	if dir != nil {
		in, path = int(dir.Fd()), filepath.Join(dir.Name(), name)
	}
	fd, err := unix.Openat(in, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) { // a link; a socket
		err = smallfile.ErrIrregular
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := &OwnFile{File: os.NewFile(uintptr(fd), path)}
	if err := unix.Fstat(fd, &f.Seen); err != nil {
		return nil, errors.Join(&os.PathError{Op: "stat", Path: path, Err: err}, f.Close())
	}
	if f.Seen.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errors.Join(&os.PathError{Op: "open", Path: path, Err: smallfile.ErrIrregular}, f.Close())
	}
	if int(f.Seen.Uid) != os.Geteuid() {
		return nil, errors.Join(foreign(path, f.Seen.Uid, 0), f.Close())
	}
	return f, nil
}

// readOwn reads a file in a folder that only this user can write, at most limit bytes.
func readOwn(dir *os.File, name string, limit int) ([]byte, error) {
	f, err := OpenOwn(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if mode := fs.FileMode(f.Seen.Mode & 0o777); mode&0o022 != 0 {
		return nil, foreign(f.Name(), f.Seen.Uid, mode)
	}
	return smallfile.ReadAll(f.File, limit)
}
