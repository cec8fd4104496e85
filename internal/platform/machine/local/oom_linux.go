package local

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"nbs-worker/internal/platform/machine"
)

// testOnlyOOM is set by the linker in a binary that simulates kills for lack of memory. It is a folder with a cgroup
// and a mountinfo, which are read instead of the kernel's own.
var testOnlyOOM string

func (kernel) MemoryKills(pid int) (machine.MemoryKills, error) {
	counter := oomFile(pid)
	if counter == "" {
		return nil, machine.ErrUnknown
	}
	return func() (uint64, error) { return readOOMKills(counter) }, nil
}

// readOOMKills reads the line "oom_kill N", which is the same in v1 and v2.
func readOOMKills(path string) (uint64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if number, found := bytes.CutPrefix(line, []byte("oom_kill ")); found {
			return strconv.ParseUint(string(bytes.TrimSpace(number)), 10, 64)
		}
	}
	return 0, machine.ErrUnknown
}

// oomPath returns the path at which a file of the kernel is read.
func oomPath(kernel string) string {
	if testOnlyOOM != "" {
		return filepath.Join(testOnlyOOM, filepath.Base(kernel))
	}
	return kernel
}
