package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Cmdline returns the arguments of a process; those of a zombie are empty.
func Cmdline(pid int) ([]string, error) {
	data, err := readProc(pid, "cmdline")
	if err != nil || len(data) == 0 {
		return nil, err
	}
	return splitArgs(data), nil
}

func splitArgs(cmdline []byte) []string {
	var args []string
	for arg := range bytes.SplitSeq(bytes.TrimSuffix(cmdline, []byte{0}), []byte{0}) {
		args = append(args, string(arg))
	}
	return args
}

// Name returns the kernel's name of a process, at most 15 bytes, or "" if it has ended.
func Name(pid int) string {
	name, err := readProc(pid, "comm")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(name))
}

// Program returns the name of the file that a process runs, also of one that was replaced or removed since. It
// returns "" if that is not known.
func Program(pid int) string {
	path, err := os.Readlink(procPath(pid, "exe"))
	if err != nil {
		return ""
	}
	return filepath.Base(strings.TrimSuffix(path, deleted))
}

// deleted is what the kernel appends to the path of a file that has no name any more.
const deleted = " (deleted)"

// IsReplaced reports whether the file that a process runs was replaced or removed since it started.
func IsReplaced(pid int) bool {
	path, err := os.Readlink(procPath(pid, "exe"))
	return err == nil && strings.HasSuffix(path, deleted)
}

// Cwd returns the working directory of a process.
func Cwd(pid int) (string, error) { return os.Readlink(procPath(pid, "cwd")) }

// Terminal returns the terminal of a process in its usual form, "pts/3", or "".
func Terminal(pid int) string {
	stat, err := readStat(pid)
	if err != nil || stat.terminal == 0 {
		return ""
	}
	const pts = 136 // the first of eight major numbers of pseudo terminals, each with 256 of them
	major, minor := unix.Major(stat.terminal), unix.Minor(stat.terminal)
	if major >= pts && major < pts+8 {
		return "pts/" + strconv.Itoa(int(major-pts)<<8+int(minor))
	}
	return fmt.Sprintf("%d:%d", major, minor)
}
