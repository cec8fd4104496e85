package claude

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"nbs-worker/internal/agent"
)

// Transcript is the file that holds a conversation. Claude makes it with the first
// prompt, not with the start.
type Transcript struct {
	Path     string
	Size     int64 // bytes
	Modified time.Time
}

// Transcript finds the file of a conversation; found is false when there is none.
// The folder's name is derived from the working directory, not reversibly and not
// uniquely, so the file is looked for in all of them.
func (c Config) Transcript(id agent.SessionID) (t Transcript, found bool, err error) {
	folders, err := os.ReadDir(filepath.Join(c.dir, "projects"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Transcript{}, false, err
	}
	for _, folder := range folders {
		path := filepath.Join(c.dir, "projects", folder.Name(), string(id)+".jsonl")
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if !found || info.ModTime().After(t.Modified) {
			t, found = Transcript{Path: path, Size: info.Size(), Modified: info.ModTime()}, true
		}
	}
	return t, found, nil
}

func (c Config) history() string { return filepath.Join(c.dir, "history.jsonl") }

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

// Mentioned tells whether Claude's prompt history names the conversation: it then
// had a first prompt, and so a transcript, whatever is on disk now.
func (c Config) Mentioned(id agent.SessionID) (bool, error) {
	f, err := openRegular(c.history())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	return streamContains(f, []byte(`"`+string(id)+`"`))
}
