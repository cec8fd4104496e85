package local

import "os"

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
