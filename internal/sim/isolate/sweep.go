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
// their own. The namespace was made for this run, so everything in it was started there. A process may fork while the
// list is read, so sweep looks again until it finds only processes that it has killed: a killed process cannot fork.
func sweep(netns string) {
	killed := map[int]bool{}
	for found := true; found; {
		found = false
		for _, pid := range members(netns) {
			if !killed[pid] {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
				killed[pid], found = true, true
			}
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
