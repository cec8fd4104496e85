// Package smallfile reads small files in as few system calls as there can be: open, read
// to the end, close. [os.ReadFile] takes more than twice as many, because it asks of each
// file whether it can be polled, and a command that looks at a thousand agents reads
// three thousand files.
//
// The package knows nothing of what is in the files and imports no other of the program.
package smallfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// firstRead is enough for nearly all: a record, a registry entry, a stat line.
const firstRead = 2 << 10 // bytes

// Read returns the content of a file of at most limit bytes.
// Errors: [os.PathError], [TooLargeError].
func Read(path string, limit int) ([]byte, error) {
	fd, err := open(unix.AT_FDCWD, path, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	data, err := toEnd(fd, limit)
	return data, inFile(path, err)
}

// ReadIn returns the content of folder/name below dir, of at most limit bytes. Neither
// folder nor name may be a symbolic link or hold a separator, and the file must be a
// regular one of this user that nobody else can write.
// Errors: [os.PathError], [TooLargeError], [ForeignError], [ErrIrregular].
func ReadIn(dir *os.File, folder, name string, limit int) ([]byte, error) {
	path := folder + "/" + name
	if !isName(folder) || !isName(name) {
		return nil, &os.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	parent, err := open(int(dir.Fd()), folder, unix.O_NOFOLLOW|unix.O_DIRECTORY)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: folder, Err: err}
	}
	defer unix.Close(parent)
	// Not blocking: a pipe in the place of the file would wait for its other end.
	fd, err := open(parent, name, unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) { // a link; a socket
		err = ErrIrregular
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, &os.PathError{Op: "read", Path: path, Err: ErrIrregular}
	}
	if int(stat.Uid) != os.Geteuid() || stat.Mode&0o022 != 0 {
		return nil, &os.PathError{Op: "read", Path: path, Err: &ForeignError{UID: stat.Uid, Mode: fs.FileMode(stat.Mode & 0o777)}}
	}
	data, err := toEnd(fd, limit)
	return data, inFile(path, err)
}

// ForeignError is the error for a file that another user owns, or can write.
type ForeignError struct {
	UID  uint32
	Mode fs.FileMode // permissions
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("other users can write it: it belongs to user id %d and has mode %04o", e.UID, e.Mode)
}

func isName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsRune(s, os.PathSeparator)
}

// ErrIrregular is the error for what is no regular file.
var ErrIrregular = errors.New("not a regular file")

// TooLargeError is the error for a file that is larger than its limit in bytes.
type TooLargeError int

func (e TooLargeError) Error() string { return fmt.Sprintf("larger than %d bytes", int(e)) }

func inFile(path string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: "read", Path: path, Err: err}
}

func open(dir int, path string, flags int) (int, error) {
	return again(func() (int, error) { return unix.Openat(dir, path, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0) })
}

func toEnd(fd, limit int) ([]byte, error) {
	data := make([]byte, 0, firstRead)
	for {
		n, err := again(func() (int, error) { return unix.Read(fd, data[len(data):cap(data)]) })
		if err != nil {
			return nil, err
		}
		data = data[:len(data)+n]
		switch {
		case len(data) > limit:
			return nil, TooLargeError(limit)
		case n == 0:
			return data, nil
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// again repeats a call that a signal interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
