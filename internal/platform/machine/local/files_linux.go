package local

import (
	"os"
	"strings"
)

func (kernel) HasOpen(pid int, path string) (bool, error) {
	dir := procPath(pid, "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	wanted, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		if info, err := os.Stat(dir + "/" + entry.Name()); err == nil && os.SameFile(info, wanted) {
			return true, nil
		}
	}
	return false, nil
}

func (kernel) Opened(pid int) (paths []string, err error) {
	dir := procPath(pid, "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if path, err := os.Readlink(dir + "/" + entry.Name()); err == nil && strings.HasPrefix(path, "/") { // closed meanwhile, or a pipe
			paths = append(paths, path)
		}
	}
	return paths, nil
}
