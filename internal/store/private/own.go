package private

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/smallfile"
)

// OwnFile is an open regular file of this user.
type OwnFile struct {
	*os.File

	Seen unix.Stat_t // before anything was read
}

// OpenOwn opens a file for reading and no link to one; a pipe in its place is not waited for.
// Errors: [fs.ErrNotExist], [smallfile.ErrIrregular], BadInput.
func OpenOwn(dir int, path string) (*OwnFile, error) {
	fd, err := unix.Openat(dir, path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
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
		foreign := fail.Errorf(fail.BadInput, "%s belongs to user id %d, not to this user (%d)", human.Quote(path), f.Seen.Uid, os.Geteuid())
		return nil, errors.Join(foreign, f.Close())
	}
	return f, nil
}

// ProcPath names an open file, whatever has become of its name.
func ProcPath(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }
