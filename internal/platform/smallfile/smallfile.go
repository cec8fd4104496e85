// Package smallfile reads small files whole, up to a limit.
//
// The package does not know what is in the files. It imports no other package of this program.
package smallfile

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Read returns the content of a regular file of at most limit bytes. It does not wait for a pipe. Errors:
// [os.PathError], with [TooLargeError] or [ErrIrregular] in it.
func Read(path string, limit int) ([]byte, error) {
	// An [os.File] costs twice as much for a small file, and a list of 100 agents reads 500.
	fd, err := again(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return readRegular(fd, path, limit)
}

// ReadBelow is Read for a file in a folder. It follows no link out of the folder.
func ReadBelow(folder, name string, limit int) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readRegular(int(f.Fd()), name, limit)
}

func readRegular(fd int, path string, limit int) ([]byte, error) {
	var seen unix.Stat_t
	if err := unix.Fstat(fd, &seen); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if seen.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, &os.PathError{Op: "read", Path: path, Err: ErrIrregular}
	}
	return ReadAll(fd, path, seen.Size, limit)
}

// ReadAll returns the rest of an open file, at most limit bytes. The size is what the file is expected to have; in /proc
// that is 0. Errors: those of Read.
func ReadAll(fd int, path string, size int64, limit int) ([]byte, error) {
	data := make([]byte, 0, min(max(int(size), usualSize), limit)+1) // one more shows the end
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
		n, err := again(func() (int, error) { return unix.Read(fd, data[len(data):cap(data)]) })
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		data = data[:len(data)+n]
		if len(data) > limit {
			return nil, &os.PathError{Op: "read", Path: path, Err: TooLargeError(limit)}
		}
		if n == 0 {
			return data, nil
		}
	}
}

// usualSize is enough for a stat line or a registry entry.
const usualSize = 511 // bytes

// again repeats a call that a signal has interrupted.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// ErrIrregular is the error for a file that is not regular.
var ErrIrregular = errors.New("not a regular file")

// TooLargeError is the error for a file that is larger than its limit in bytes.
type TooLargeError int

func (e TooLargeError) Error() string { return fmt.Sprintf("larger than %d bytes", int(e)) }
