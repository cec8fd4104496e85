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
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// firstRead is enough for nearly all: a record, a registry entry, a stat line.
const firstRead = 2 << 10 // bytes

// Read returns the content of a file of at most limit bytes.
// Errors: [os.PathError], [TooLargeError].
func Read(path string, limit int) ([]byte, error) {
	fd, err := open(unix.AT_FDCWD, path, unix.O_NONBLOCK) // a pipe in its place is empty
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	data, err := toEnd(fd, limit)
	return data, inFile(path, err)
}

// ReadInto reads a file that fits into the buffer, and returns the part that it fills.
// Errors: [os.PathError], [TooLargeError] when it may not fit.
func ReadInto(buffer []byte, path string) ([]byte, error) {
	fd, err := open(unix.AT_FDCWD, path, unix.O_NONBLOCK)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	n, err := read(fd, buffer)
	if err == nil && n == len(buffer) {
		err = TooLargeError(n - 1)
	}
	return buffer[:n], inFile(path, err)
}

// self is this user; a program that looks at a thousand agents does not ask each time.
var self = os.Geteuid()

// Dir is an open folder, for reading several files in it.
type Dir struct {
	fd   int
	name string
}

// OpenDir opens a folder below parent. The name may hold no separator, and the folder may
// not be a symbolic link. Errors: [os.PathError].
func OpenDir(parent *os.File, name string) (Dir, error) {
	if !isName(name) {
		return Dir{}, &os.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	fd, err := open(int(parent.Fd()), name, unix.O_NOFOLLOW|unix.O_DIRECTORY)
	if err != nil {
		return Dir{}, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return Dir{fd: fd, name: name}, nil
}

// Close closes the folder.
func (d Dir) Close() error { return unix.Close(d.fd) }

// Read returns the content of a file in the folder, of at most limit bytes. The file must
// be a regular one of this user that nobody else can write; a symbolic link is not
// followed. Errors: [os.PathError], [TooLargeError], [ForeignError], [ErrIrregular].
func (d Dir) Read(name string, limit int) ([]byte, error) {
	path := d.name + "/" + name
	if !isName(name) {
		return nil, &os.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	// Not blocking: a pipe in the place of the file would wait for its other end.
	fd, err := open(d.fd, name, unix.O_NOFOLLOW|unix.O_NONBLOCK)
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
	if int(stat.Uid) != self || stat.Mode&0o022 != 0 {
		return nil, &os.PathError{Op: "read", Path: path, Err: &ForeignError{UID: stat.Uid, Mode: fs.FileMode(stat.Mode & 0o777)}}
	}
	data, err := toEnd(fd, limit)
	return data, inFile(path, err)
}

// ReadInto reads a file in the folder that fits into the buffer, and returns the part that
// it fills. Only the folder says whose the file is: a link is not followed, but a file that
// others can write is read. Errors: [os.PathError], [TooLargeError] when it may not fit.
func (d Dir) ReadInto(buffer []byte, name string) ([]byte, error) {
	fd, err := open(d.fd, name, unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: d.name + "/" + name, Err: err}
	}
	defer unix.Close(fd)
	n, err := read(fd, buffer)
	if err == nil && n == len(buffer) {
		err = TooLargeError(n - 1)
	}
	return buffer[:n], inFile(name, err)
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
	for {
		fd, err := unix.Openat(dir, path, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// toEnd reads until a read returns less than it was asked for: of a file on disk, and of
// those in /proc that are read here, that is the end. The first piece is read into the
// stack: what a command allocates for a thousand agents is fresh memory, and costs more
// than the copy.
func toEnd(fd, limit int) ([]byte, error) {
	var first [firstRead]byte
	n, err := read(fd, first[:])
	data := append([]byte(nil), first[:n]...)
	for err == nil && n > 0 && len(data) >= firstRead && len(data) <= limit {
		data = slices.Grow(data, len(data))
		free := data[len(data):cap(data)]
		n, err = read(fd, free)
		data = data[:len(data)+n]
		if n < len(free) {
			break
		}
	}
	if err == nil && len(data) > limit {
		err = TooLargeError(limit)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// read reads once, also when a signal interrupts it.
func read(fd int, into []byte) (int, error) {
	for {
		n, err := unix.Read(fd, into)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}
