// Package smallfile reads small files in few system calls: open, read to the end, close.
// [os.ReadFile] takes twice as many, because it asks of each file whether it can be polled,
// and a command that looks at a thousand agents reads three thousand files.
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
	"sync"

	"golang.org/x/sys/unix"
)

// Read returns the content of a file of at most limit bytes.
// Errors: [os.PathError], [TooLargeError].
func Read(path string, limit int) (data []byte, err error) {
	err = View(path, limit, func(seen []byte) error {
		data = append([]byte{}, seen...)
		return nil
	})
	return data, err
}

// View calls look with the content of a file of at most limit bytes. look must not keep data, which
// is overwritten afterwards. Errors: [os.PathError], [TooLargeError], those of look.
func View(path string, limit int, look func(data []byte) error) error {
	return workingDir.view(path, limit, look)
}

// self is this user's id, read once: a command may look at a thousand agents.
var self = os.Geteuid()

// Dir is an open folder, for reading several files in it.
type Dir struct {
	fd   int
	path string // by which it was opened
}

var workingDir = Dir{fd: unix.AT_FDCWD}

// Open opens a folder wherever it is. Errors: [os.PathError].
func Open(path string) (Dir, error) { return openIn(unix.AT_FDCWD, path, unix.O_DIRECTORY) }

// OpenDir opens a folder below parent. The name may hold no separator, and the folder may
// not be a symbolic link. Errors: [os.PathError].
func OpenDir(parent *os.File, name string) (Dir, error) {
	return openBelow(int(parent.Fd()), name)
}

// OpenDir opens a folder below, as the function OpenDir does.
func (d Dir) OpenDir(name string) (Dir, error) { return openBelow(d.fd, name) }

func openBelow(parent int, name string) (Dir, error) {
	if !isName(name) {
		return Dir{}, &os.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return openIn(parent, name, unix.O_NOFOLLOW|unix.O_DIRECTORY)
}

func openIn(parent int, path string, flags int) (Dir, error) {
	fd, err := open(parent, path, flags)
	if err != nil {
		return Dir{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return Dir{fd, path}, nil
}

// Close closes the folder.
func (d Dir) Close() error { return unix.Close(d.fd) }

// View shows the content of a file in the folder, as the function View does.
func (d Dir) View(name string, limit int, look func(data []byte) error) error {
	if !isName(name) {
		return d.failed("open", name, fs.ErrInvalid)
	}
	return d.view(name, limit, look)
}

func (d Dir) view(path string, limit int, look func(data []byte) error) error {
	fd, err := open(d.fd, path, unix.O_NONBLOCK) // a pipe in its place reads as empty
	if err != nil {
		return d.failed("open", path, err)
	}
	defer unix.Close(fd)
	return d.show(fd, path, sizeUnknown, limit, look)
}

// ViewOwn is View of a file that must be a regular one of this user that nobody else can
// write; a symbolic link is not followed. Errors: also [ForeignError], [ErrIrregular].
func (d Dir) ViewOwn(name string, limit int, look func(data []byte) error) error {
	if !isName(name) {
		return d.failed("open", name, fs.ErrInvalid)
	}
	// Not blocking: to open a pipe in the place of the file would wait for its other end.
	fd, err := open(d.fd, name, unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) { // a link; a socket
		err = ErrIrregular
	}
	if err != nil {
		return d.failed("open", name, err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return d.failed("stat", name, err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return d.failed("read", name, ErrIrregular)
	}
	if int(stat.Uid) != self || stat.Mode&0o022 != 0 {
		return d.failed("read", name, &ForeignError{UID: stat.Uid, Mode: fs.FileMode(stat.Mode & 0o777)})
	}
	return d.show(fd, name, int(stat.Size), limit, look)
}

func (d Dir) failed(op, name string, err error) error {
	if d.path != "" {
		name = d.path + "/" + name
	}
	return &os.PathError{Op: op, Path: name, Err: err}
}

// Names lists the folder, unsorted. Errors: [os.PathError].
func (d Dir) Names() ([]string, error) {
	again, err := openIn(d.fd, ".", unix.O_DIRECTORY)
	if err != nil {
		return nil, d.failed("list", ".", err)
	}
	dir := os.NewFile(uintptr(again.fd), d.path)
	defer dir.Close()
	return dir.Readdirnames(-1)
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

func open(dir int, path string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, path, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// firstRead is enough for nearly all: a record, a registry entry, a stat line.
const firstRead = 4 << 10 // bytes

// buffers are reused: to allocate one for each of a thousand files would cost as much as to
// read them.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// sizeUnknown is for what need not be a regular file: files in /proc have size 0.
const sizeUnknown = 0

// show calls look with the content of an open file of the folder.
func (d Dir) show(fd int, name string, size, limit int, look func([]byte) error) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	var err error
	if *buffer, err = toEnd((*buffer)[:0], fd, size, limit); err != nil {
		return d.failed("read", name, err)
	}
	return look(*buffer)
}

// toEnd reads until a known size is reached, or to the end of the file: a read from /proc may
// return less than asked for before the end.
func toEnd(data []byte, fd, size, limit int) ([]byte, error) {
	for {
		data = slices.Grow(data, firstRead)
		free := data[len(data):cap(data)]
		n, err := read(fd, free)
		data = data[:len(data)+n]
		switch {
		case err != nil:
			return data, err
		case len(data) > limit:
			return data, TooLargeError(limit)
		case n == 0, len(data) == size:
			return data, nil
		}
	}
}

// read reads once, and again when a signal interrupts it.
func read(fd int, into []byte) (int, error) {
	for {
		n, err := unix.Read(fd, into)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}
