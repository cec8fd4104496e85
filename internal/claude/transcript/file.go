package transcript

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"nbs-worker/internal/agent"
)

// File is the file that holds a conversation. Claude makes it with the first prompt, not with
// the start.
type File struct {
	Path     string
	Size     int64 // bytes
	Modified time.Time
}

// At is a transcript of which the place is known, such as one that was kept.
func At(path string) File { return File{Path: path} }

// openRegular opens a file of Claude's. What stands in its place and is none, such as a
// pipe, would be waited for.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s is not a regular file", agent.Quote(path)))
	}
	return f, nil
}
