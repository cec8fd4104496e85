package machine

// Usage is the use of the machine by processes.
type Usage struct {
	RSS        uint64  // resident memory in bytes; shared pages count in each
	CPUSeconds float64 // user and system, since their start; also of their children that have ended
	Read       uint64  // bytes, from disks, since their start
	Written    uint64  // bytes, to disks, since their start
	Processes  int
}

// UsageOf adds up what a process and its descendants use. Processes that start or end during the call may be left
// out.
func (m *Machine) UsageOf(pid int) Usage {
	var sum Usage
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		queue = append(queue, m.childrenOf(queue[0])...)
		if stat, err := m.kernel.Stat(queue[0]); err == nil {
			sum.add(m, queue[0], stat)
		}
	}
	return sum
}

// UsagesOf is [Machine.UsageOf] for several processes, in one pass over all processes of the machine.
func (m *Machine) UsagesOf(pids []int) []Usage {
	all, _ := m.kernel.PIDs() // what cannot be listed uses nothing
	stats, children := make(map[int]Stat, len(all)), make(map[int][]int, len(all))
	for _, pid := range all {
		if stat, err := m.kernel.Stat(pid); err == nil {
			stats[pid] = stat
			children[stat.Parent] = append(children[stat.Parent], pid)
		}
	}
	sums := make([]Usage, len(pids))
	for i, pid := range pids {
		for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
			if stat, there := stats[queue[0]]; there {
				sums[i].add(m, queue[0], stat)
				queue = append(queue, children[queue[0]]...)
			}
		}
	}
	return sums
}

// add adds what one process uses.
func (u *Usage) add(m *Machine, pid int, stat Stat) {
	u.CPUSeconds += stat.CPU
	if !stat.Gone {
		one, _ := m.kernel.Usage(pid) // as far as the kernel reports it
		u.RSS, u.Read, u.Written, u.Processes = u.RSS+one.RSS, u.Read+one.Read, u.Written+one.Written, u.Processes+1
	}
}

// childrenOf asks the kernel for the children of a process, and looks at all processes if the kernel lists none. The
// kernel's answer may lack a child that was just forked. That is good enough for measuring; to end the children of a
// process, use [Machine.Descendants].
func (m *Machine) childrenOf(pid int) []int {
	children, err := m.kernel.Children(pid)
	if err != nil {
		all, _ := m.childrenByParent()
		for _, child := range all[pid] {
			children = append(children, child.PID)
		}
	}
	return children
}

// MemoryKills returns how many processes of a group the kernel has killed for lack of memory so far.
type MemoryKills func() (uint64, error)

// MemoryWatch remembers how many processes of a memory cgroup the kernel had killed for lack of memory when the
// watched process started.
type MemoryWatch struct {
	kills  MemoryKills // nil: they are not known
	before uint64
}

// WatchMemory begins to watch the cgroup of a process that has just been started. It costs nothing until a kill.
func (m *Machine) WatchMemory(pid int) MemoryWatch {
	kills, err := m.kernel.MemoryKills(pid)
	if err != nil {
		return MemoryWatch{}
	}
	before, err := kills()
	if err != nil {
		return MemoryWatch{}
	}
	return MemoryWatch{kills: kills, before: before}
}

// Kills returns how many processes the kernel has killed since. The cgroup is shared with tools and other agents:
// that a watched process was among the killed is only probable.
func (w MemoryWatch) Kills() uint64 {
	if w.kills == nil {
		return 0
	}
	now, err := w.kills()
	if err != nil || now < w.before { // another cgroup has taken its place
		return 0
	}
	return now - w.before
}
