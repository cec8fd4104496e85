package proc

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Load returns how many processes ran or wanted to run, on the average of the last minute, and on how many cores;
// 0 where that is not known.
func Load() (load float64, cores int) {
	const one = 1 << 16 // of the kernel's fixed-point numbers
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0, runtime.NumCPU()
	}
	return float64(info.Loads[0]) / one, runtime.NumCPU()
}
