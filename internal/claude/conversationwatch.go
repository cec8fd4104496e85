package claude

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/filewatch"
)

// WatchConversations makes the watcher wait for what is said in any conversation, for a
// transcript that appears, and for a claude that goes into another one. What is not there
// yet is watched for by the folder above it.
func (c Config) WatchConversations(w *filewatch.Watcher) error {
	projects := filepath.Join(c.dir, "projects")
	dirs := []string{c.dir, filepath.Join(c.dir, "sessions"), projects}
	folders, err := os.ReadDir(projects)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, folder := range folders {
		dirs = append(dirs, filepath.Join(projects, folder.Name()))
	}
	for _, dir := range dirs {
		if err := w.Add(dir); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			return err
		}
	}
	return nil
}
