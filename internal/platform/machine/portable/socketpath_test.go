package portable

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// The kernel takes exactly the paths that fit.
func TestPathsThatFitASocket(t *testing.T) {
	t.Parallel()
	dir := rig.ShortDir(t)
	for size, want := range map[int]bool{socketPathMax - 1: true, socketPathMax: true, socketPathMax + 1: false, socketPathMax + 100: false} {
		path := filepath.Join(dir, strings.Repeat("s", size-len(dir)-1))
		rig.Equal(t, FitsSocket(path), want, "%d bytes fit", len(path))
		l, err := net.Listen("unix", path)
		rig.Check(t, (err == nil) == want, "%d bytes: %v", len(path), err)
		if err == nil {
			rig.Must(t, l.Close())
		}
	}
	long := ErrLongSocket("/" + strings.Repeat("s", 200))
	rig.Check(t, fail.KindOf(long) == fail.BadInput && strings.Contains(long.Error(), "has 201 bytes"), "%v", long)
}
