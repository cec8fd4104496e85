package recover

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// everything is all that is below a folder: names, modes and contents; not what a live agent is about to rename.
func (m *team) everything(root string) map[string]string {
	m.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(entry.Name(), ".") && filepath.Base(filepath.Dir(path)) == "status" {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var text []byte
		if info.Mode().IsRegular() {
			if text, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		all[strings.TrimPrefix(path, root)] = fmt.Sprintf("%s %s %s", info.Mode(), info.ModTime(), text)
		return nil
	})
	m.Must(err)
	return all
}

// mustBeAsBefore checks that nothing below a folder has changed or is new, but for the exceptions, of which nothing may
// be gone.
func (m *team) mustBeAsBefore(root string, before map[string]string, but ...string) {
	m.Helper()
	now := m.everything(root)
	excepted := func(path string) bool {
		return slices.ContainsFunc(but, func(part string) bool { return path == part || part != "" && strings.HasPrefix(path, part+"/") })
	}
	for path, was := range before {
		is, there := now[path]
		m.Check(there && (is == was || excepted(path)), "%s has changed: %.300q, before %.300q", path, is, was)
	}
	for path := range now {
		_, there := before[path]
		m.Check(there || excepted(path), "%s is new", path)
	}
}

// agentsOwn is what a live agent writes below .nbs, whatever the doctor does; in /locks the doctor has a scratch file.
var agentsOwn = []string{"", "/locks", "/status"}
