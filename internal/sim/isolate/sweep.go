package isolate

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// ownNamespace names the network namespace of this process, e.g. "net:[4026532345]".
func ownNamespace() (string, error) { return os.Readlink("/proc/self/ns/net") }

// sweep kills what is still inside a namespace whose first process has ended: tmux servers, tools in sessions of
// their own. The namespace was made by this process, so whoever is in it came from there. It repeats until a pass
// finds nobody, because a process may fork while the list is read.
func sweep(netns string) {
	for range 10 {
		found := false
		for _, pid := range members(netns) {
			found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
		}
		if !found {
			return
		}
	}
}

// members lists the processes in a network namespace. A zombie has none and is not listed.
func members(netns string) []int {
	links, _ := filepath.Glob("/proc/[0-9]*/ns/net") // the pattern is constant and well formed
	var pids []int
	for _, link := range links {
		if name, err := os.Readlink(link); err != nil || name != netns {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(link)))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
