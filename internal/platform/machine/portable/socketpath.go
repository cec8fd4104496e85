package portable

import (
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// FitsSocket reports whether a path is short enough for a Unix socket.
func FitsSocket(path string) bool { return len(path) <= socketPathMax }

// ErrLongSocket returns the error for a path that does not fit.
func ErrLongSocket(path string) *fail.Error {
	return fail.Errorf(fail.BadInput, "the path of the socket %s has %d bytes; this operating system takes at most %d", human.Quote(path), len(path), socketPathMax)
}
