// Package local is the machine that this program runs on. On Linux it reads /proc and uses pidfds, on macOS it asks
// sysctl, libproc and kqueue.
package local

import (
	"nbs-worker/internal/platform/machine"
)

// New returns the machine that this program runs on.
func New() *machine.Machine { return machine.New(kernel{}) }

// kernel is the [machine.Kernel] of the operating system.
type kernel struct{}
