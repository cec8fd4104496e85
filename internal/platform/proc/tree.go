package proc

import (
	"os"

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

// below identifies the descendants of a process. It leaves out a child whose pid has passed to another process, and
// the descendants of that one.
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

// listed is the state of a process when the processes were listed.
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
