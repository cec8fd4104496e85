package memory

import (
	"path/filepath"

	"nbs-worker/internal/human"
)

// Aside is a command that moves a database away, with what SQLite keeps beside it: left behind, that would
// become part of the next database at that place.
func Aside(path string) string {
	folder, name := filepath.Split(path)
	aside := human.ShellWord(filepath.Join(folder, "aside-"+name))
	return "mkdir " + aside + " && mv " + human.ShellWord(path) + "* " + aside
}
