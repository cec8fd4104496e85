package local

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"nbs-worker/internal/platform/machine"
)

func (kernel) Files(pid int) (machine.Files, error) {
	open, err := countOpen(procPath(pid, "fd"))
	if err != nil {
		return machine.Files{}, err
	}
	limits, err := os.Open(procPath(pid, "limits"))
	if err != nil {
		return machine.Files{}, err
	}
	defer limits.Close()
	lines := bufio.NewScanner(limits)
	for lines.Scan() {
		if soft, hard, ok := parseLimit(lines.Text()); ok {
			return machine.Files{Open: open, Soft: soft, Hard: hard}, nil
		}
	}
	return machine.Files{}, fmt.Errorf("process %d: no limit of open files", pid)
}

// countOpen reads the number of open files from the size of the folder, as Linux 6.2 and later show it. Only on an
// older kernel it lists the folder: a tmux server has a thousand files.
func countOpen(fds string) (int, error) {
	dir, err := os.Open(fds)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	if info, err := dir.Stat(); err == nil && info.Size() > 0 {
		return int(info.Size()), nil
	}
	names, err := dir.Readdirnames(-1)
	return len(names), err
}

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

// parseLimit reads "Max open files            1024                 4096                 files". A limit on open files
// is a number: the kernel has no unlimited one.
func parseLimit(line string) (soft, hard int, ok bool) {
	rest, found := strings.CutPrefix(line, "Max open files")
	fields := strings.Fields(rest)
	if !found || len(fields) < 2 {
		return 0, 0, false
	}
	soft, err1 := strconv.Atoi(fields[0])
	hard, err2 := strconv.Atoi(fields[1])
	return soft, hard, err1 == nil && err2 == nil
}
