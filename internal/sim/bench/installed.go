package bench

import (
	"os"
	"path/filepath"
)

// Install copies a program into a folder, as make install and a package manager do, and returns the copy. What the linker
// has just written lies in memory page by page, and starts up to 0.3 ms later than the copy: nobody's nbs-worker, and
// nobody's tmux, is in that state.
func Install(program, folder string) (installed string, err error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	installed = filepath.Join(folder, filepath.Base(program))
	return installed, os.WriteFile(installed, data, 0o700)
}
