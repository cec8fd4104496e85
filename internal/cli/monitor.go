package cli

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// calmMonitor lets the monitor thread of Go's runtime wait until a processor is free. In the
// first milliseconds of any program it wakes every 90 µs, and takes the processor from who
// is at work: here that is tmux, and a list of a hundred agents takes a twentieth longer.
//
// The threads that it starts, and the programs that these start, inherit the policy: a
// command that starts an agent or a tmux server must leave it as it is.
func calmMonitor() {
	if tid, known := monitorThread(); known {
		_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH}, 0)
	}
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
