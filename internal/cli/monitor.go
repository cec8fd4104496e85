package cli

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// calmMonitor puts the monitor thread of Go's runtime into the batch class, in which a thread
// that wakes does not take the processor from another. In the first milliseconds of any program
// the monitor wakes every 90 µs, and interrupts who is at work: for a list of a hundred agents
// that is tmux, and the list takes 3 % longer.
//
// The threads that the monitor starts later are in the class, too, and so are the programs that
// these start: a command that starts an agent or a tmux server must leave it as it is.
func calmMonitor() {
	tid, known := monitorThread()
	if !known {
		return
	}
	now, err := unix.SchedGetAttr(tid, 0)
	if err != nil || now.Policy != unix.SCHED_NORMAL { // whoever chose another class has reasons
		return
	}
	_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: now.Nice}, 0)
}

// monitorThread is the first that the main thread starts; the kernel lists them in that order.
func monitorThread() (tid int, known bool) {
	tasks, err := unix.Open("/proc/self/task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer unix.Close(tasks)
	entries := make([]byte, 512)
	n, err := unix.ReadDirent(tasks, entries)
	if err != nil {
		return 0, false
	}
	const monitor = 1
	_, found, threads := unix.ParseDirent(entries[:n], monitor+1, nil)
	if found <= monitor {
		return 0, false
	}
	tid, err = strconv.Atoi(threads[monitor])
	return tid, err == nil
}
