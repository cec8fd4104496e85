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
// their own. The namespace was made for this run, so everything in it was started there. sweep repeats, up to ten
// times, until a pass finds nothing, because a process may fork while the list is read.
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

// members lists the other processes in a network namespace. A zombie has none and is not listed.
func members(netns string) []int {
	links, _ := filepath.Glob("/proc/[0-9]*/ns/net") // the pattern is constant and well formed
	var pids []int
	for _, link := range links {
		if name, err := os.Readlink(link); err != nil || name != netns {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(link)))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
