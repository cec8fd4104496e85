package claude

import (
	"errors"
	"os"
	"path/filepath"
)

// ConversationFolders lists where changes tell of what is said in any conversation, of a
// transcript that appears, and of a claude that goes into another one. Some may not exist.
func (c Config) ConversationFolders() ([]string, error) {
	projects := filepath.Join(c.dir, "projects")
	dirs := []string{c.dir, c.Registry().Dir(), projects}
	folders, err := os.ReadDir(projects)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, folder := range folders {
		dirs = append(dirs, filepath.Join(projects, folder.Name()))
	}
	return dirs, nil
}
