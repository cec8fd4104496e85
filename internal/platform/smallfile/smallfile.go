// Package smallfile reads small files whole, up to a limit.
//
// The package does not know what is in the files. It imports no other package of this program.
package smallfile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Read returns the content of a regular file of at most limit bytes. It does not wait for a pipe. Errors:
// [os.PathError], with [TooLargeError] or [ErrIrregular] in it.
func Read(path string, limit int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return readRegular(f, path, limit)
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
	return readRegular(f, name, limit)
}

// readRegular reads a file, and closes it.
func readRegular(f *os.File, path string, limit int) ([]byte, error) {
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "read", Path: path, Err: ErrIrregular}
	}
	if err != nil {
		return nil, err
	}
	return ReadAll(f, limit)
}

// ReadAll returns the rest of an open file, at most limit bytes. Errors: those of Read.
func ReadAll(f *os.File, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = &os.PathError{Op: "read", Path: f.Name(), Err: TooLargeError(limit)}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// ErrIrregular is the error for a file that is not regular.
var ErrIrregular = errors.New("not a regular file")

// TooLargeError is the error for a file that is larger than its limit in bytes.
type TooLargeError int

func (e TooLargeError) Error() string { return fmt.Sprintf("larger than %d bytes", int(e)) }
