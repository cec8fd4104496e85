package local

import "runtime"

func (kernel) System() string { return runtime.GOOS }
