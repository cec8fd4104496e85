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
	fd, seen, err := openOwn(in, name, path)
	if err != nil {
		return nil, err
	}
	return &OwnFile{os.NewFile(uintptr(fd), path), seen}, nil
}

func openOwn(in int, name, path string) (fd int, seen unix.Stat_t, err error) {
	fd, err = unix.Openat(in, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EOPNOTSUPP) { // a link; a socket; on macOS
		err = smallfile.ErrIrregular
	}
	if err != nil {
		return 0, seen, &os.PathError{Op: "open", Path: path, Err: err}
	}
	switch err = unix.Fstat(fd, &seen); {
	case err != nil:
		err = &os.PathError{Op: "stat", Path: path, Err: err}
	case seen.Mode&unix.S_IFMT != unix.S_IFREG:
		err = &os.PathError{Op: "open", Path: path, Err: smallfile.ErrIrregular}
	case int(seen.Uid) != os.Geteuid():
		err = foreign(path, seen.Uid, 0)
	default:
		return fd, seen, nil
	}
	return 0, seen, errors.Join(err, unix.Close(fd))
}

// readOwn reads a file in a folder that only this user can write, at most limit bytes.
func readOwn(in int, name, path string, limit int) ([]byte, error) {
	fd, seen, err := openOwn(in, name, path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if mode := fs.FileMode(seen.Mode & 0o777); mode&0o022 != 0 {
		return nil, foreign(path, seen.Uid, mode)
	}
	return smallfile.ReadAll(fd, path, seen.Size, limit)
}
