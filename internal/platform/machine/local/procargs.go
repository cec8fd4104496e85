package local

import (
	"bytes"
	"encoding/binary"
	"os"

	"nbs-worker/internal/platform/machine"
)

// started is what macOS keeps of the start of a process.
type started struct {
	program   string // path
	arguments []byte // each ends with a NUL
	environ   []byte // the same; nil: it is not shown
}

// parseProcArgs reads the answer to sysctl kern.procargs2: the number of arguments, the path of the program and the
// NULs that pad it, the arguments, and the environment up to an empty word. What is not this user's to see is left
// out: then nothing follows the arguments.
func parseProcArgs(data []byte) (started, error) {
	const size = 4 // of the number of arguments
	if len(data) < size {
		return started{}, os.ErrNotExist // a zombie has none
	}
	count, rest := binary.NativeEndian.Uint32(data), data[size:]
	program, rest, found := bytes.Cut(rest, []byte{0})
	if !found {
		return started{}, machine.ErrUnknown
	}
	rest = bytes.TrimLeft(rest, "\x00")
	s := started{program: string(program)}
	all := rest
	for range count {
		_, after, found := bytes.Cut(rest, []byte{0})
		if !found {
			return started{}, machine.ErrUnknown
		}
		rest = after
	}
	s.arguments = all[:len(all)-len(rest)]
	if end := bytes.Index(rest, []byte{0, 0}); end > 0 {
		s.environ = rest[:end+1]
	} else if len(rest) > 0 && rest[0] != 0 {
		s.environ = rest
	}
	return s, nil
}
