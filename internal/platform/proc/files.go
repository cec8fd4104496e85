package proc

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Files counts the open files of a process, and names their limits.
type Files struct {
	Open       int
	Soft, Hard int // limits; the process may raise the first to the second
}

// Full reports whether a server has no descriptors left for one more client, which needs three.
func (f Files) Full() bool { return f.Open+3 > f.Soft }

// FilesOf counts the open files of a process. Errors also for a process of another
// user.
func FilesOf(pid int) (Files, error) {
	open, err := countOpen(procPath(pid, "fd"))
	if err != nil {
		return Files{}, err
	}
	limits, err := os.Open(procPath(pid, "limits"))
	if err != nil {
		return Files{}, err
	}
	defer limits.Close()
	lines := bufio.NewScanner(limits)
	for lines.Scan() {
		if soft, hard, ok := parseLimit(lines.Text()); ok {
			return Files{Open: open, Soft: soft, Hard: hard}, nil
		}
	}
	return Files{}, fmt.Errorf("process %d: no limit of open files", pid)
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

// Opened reports whether a process has the file open. Errors: as of [FilesOf].
func Opened(pid int, path string) (bool, error) {
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

// Halted reports whether a process is stopped, as by SIGSTOP, until it is sent SIGCONT. A stop by a
// tracer does not count: the tracer lets the process go on.
func Halted(pid int) bool {
	stat, err := readStat(pid)
	return err == nil && stat.state == 'T'
}
