package transcript

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"nbs-worker/internal/human"
)

// File is the file that holds a conversation. Claude creates it with the first prompt, not with the start.
type File struct {
	Path     string
	Size     int64 // bytes
	Modified time.Time
}

// At returns the transcript at a known path, such as a kept one; its Size and Modified are zero.
func At(path string) File { return File{Path: path} }

// Open opens the file, which must be regular: for a pipe in its place it returns an error and does not block.
func (t File) Open() (*os.File, error) {
	f, err := os.OpenFile(t.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s is not a regular file", human.Quote(t.Path)))
	}
	return f, nil
}
