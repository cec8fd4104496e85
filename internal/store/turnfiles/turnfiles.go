// Package turnfiles holds what a headless claude reads while it runs: its system prompt and the context of
// the present turn. Both are the user's, so they are on no command line and in no project; they last as long
// as the process, and no longer than this boot.
package turnfiles

import (
	"os"

	"github.com/google/renameio/v2"

	"nbs-worker/internal/store/private"
)

// Files are those of one process.
type Files struct {
	folder private.Tree
	name   string
}

// In are the files of the process with this name, in a folder that all processes share.
func In(folder private.Tree, name string) Files { return Files{folder: folder, name: name} }

// The files.
const (
	Context      = "context"
	SystemPrompt = "system"
)

// Put replaces a file, and returns its path.
func (f Files) Put(what, content string) (path string, err error) {
	err = f.folder.In(func(dir *os.Root, _ *os.File) error {
		return renameio.WriteFile(f.file(what), []byte(content), 0o600, renameio.WithRoot(dir), renameio.WithStaticPermissions(0o600))
	})
	return f.folder.Path(f.file(what)), f.folder.Remedied(err)
}

// Drop removes the files.
func (f Files) Drop() error { return f.folder.Remove(f.file(Context), f.file(SystemPrompt)) }

func (f Files) file(what string) string { return f.name + "." + what }
