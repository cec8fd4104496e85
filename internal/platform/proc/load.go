package proc

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Load returns the average number of processes that ran or wanted to run in the last minute, and the number of cores.
// Both are 0 if that is not known.
func Load() (load float64, cores int) {
	const one = 1 << 16 // of the kernel's fixed-point numbers
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0, runtime.NumCPU()
	}
	return float64(info.Loads[0]) / one, runtime.NumCPU()
}
