package memory

import (
	"path/filepath"

	"nbs-worker/internal/human"
)

// Aside returns a command that moves a database away, with the files that SQLite keeps beside it: a file left behind
// would become part of the next database at that place.
func Aside(path string) string {
	folder, name := filepath.Split(path)
	aside := human.ShellWord(filepath.Join(folder, "aside-"+name))
	return "mkdir " + aside + " && mv " + human.ShellWord(path) + "* " + aside
}
