package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
)

// Descendants returns the live descendants of a process, parents before children.
// They can be found this way only while the ancestors live: an orphan gets another parent.
func Descendants(pid int) ([]agent.Identity, error) {
	children, err := childrenByParent()
	if err != nil {
		return nil, err
	}
	return below(pid, children), nil
}

// below identifies the descendants of a process. A child whose pid is another process's since is none, nor is what is
// below that one.
func below(pid int, children map[int][]listed) (found []agent.Identity) {
	queue := children[pid]
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		id, err := Identify(next.pid)
		if err == nil && id.StartTicks != next.startTicks {
			continue
		}
		queue = append(queue, children[next.pid]...)
		if err == nil {
			found = append(found, id)
		}
	}
	return found
}

// listed is a process as it was when the processes were listed.
type listed struct {
	pid        int
	startTicks uint64
}

func childrenByParent() (map[int][]listed, error) {
	pids, err := pids()
	if err != nil {
		return nil, err
	}
	children := make(map[int][]listed)
	for _, pid := range pids {
		if stat, err := readStat(pid); err == nil && !stat.gone() {
			children[stat.ppid] = append(children[stat.ppid], listed{pid, stat.startTicks})
		}
	}
	return children, nil
}

// Ancestors returns this process's pid, its parent's, and so on up to 1.
func Ancestors() []int { return AncestorsOf(os.Getpid()) }

// AncestorsOf returns a process's pid, its parent's, and so on up to 1.
func AncestorsOf(pid int) []int {
	var chain []int
	for pid > 0 {
		chain = append(chain, pid)
		stat, err := readStat(pid)
		if err != nil {
			break
		}
		pid = stat.ppid
	}
	return chain
}

// Carrying returns the live processes of this user in whose start environment the variable
// has the value. What another user puts there says nothing, though root can read it.
func Carrying(name, value string) ([]agent.Identity, error) {
	return ours(func(pid int) bool {
		got, ok := Variable(pid, name)
		return ok && got == value
	})
}

// ours are the live processes of this user that match. What matched is asked again when it is identified: another
// process may have got the pid in between.
func ours(match func(pid int) bool) ([]agent.Identity, error) {
	pids, err := pids()
	if err != nil {
		return nil, err
	}
	var found []agent.Identity
	for _, pid := range pids {
		if !match(pid) || !IsOurs(pid) {
			continue
		}
		if id, err := Identify(pid); err == nil && match(pid) {
			found = append(found, id)
		}
	}
	return found, nil
}

// Variable reads a variable from the environment with which a process was started.
func Variable(pid int, name string) (string, bool) {
	environ, err := readProc(pid, "environ")
	if err != nil {
		return "", false
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(value), true
		}
	}
	return "", false
}

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

// Name is the kernel's name of a process, at most 15 bytes; "" when it is gone.
func Name(pid int) string {
	name, err := readProc(pid, "comm")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(name))
}

// Program is the name of the file that a process runs, also of one that was replaced or
// removed since; "" when it cannot be told.
func Program(pid int) string {
	path, err := os.Readlink(procPath(pid, "exe"))
	if err != nil {
		return ""
	}
	return filepath.Base(strings.TrimSuffix(path, " (deleted)"))
}

// Cwd returns the working directory of a process.
func Cwd(pid int) (string, error) { return os.Readlink(procPath(pid, "cwd")) }

func pids() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			found = append(found, pid)
		}
	}
	return found, nil
}

// Find returns the live processes of this user that have the word anywhere in their arguments, and
// whose arguments match. The word keeps the search through all processes short. Processes of
// another user do not count, whatever their name.
func Find(word string, match func(cmdline []string) bool) ([]agent.Identity, error) {
	return ours(func(pid int) bool {
		cmdline, err := readProc(pid, "cmdline")
		return err == nil && bytes.Contains(cmdline, []byte(word)) && match(splitArgs(cmdline))
	})
}

// Terminal is the terminal that a process is attached to, as people name it: "pts/3"; "" for none.
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

// EnvironOf is the environment with which a process was started; nil when it has ended.
func EnvironOf(id agent.Identity) []string {
	env, err := Environ(id.PID)
	if err != nil || !IsAlive(id) {
		return nil
	}
	return env
}
