package tmux

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"

	"golang.org/x/sys/unix"
)

func TestRaised(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ soft, hard, want uint64 }{
		{1024, 4096, 4096},
		{1024, 1 << 30, 1 << 16},
		{1 << 20, 1 << 30, 1 << 20}, // a caller that has more keeps it
		{4096, 4096, 4096},
		{0, 4096, 4096}, // not known
	} {
		rig.Equal(t, raised(c.soft, c.hard), c.want, "raised(%d, %d)", c.soft, c.hard)
	}
}

// Go raises its own soft limit and puts it back in its children; the first one tells.
func TestOpenFilesAreTheCallers(t *testing.T) {
	s := newServer(t)
	rig.Equal(t, s.shared.known(), 0, "before the first call")
	s.panes()
	var limit unix.Rlimit
	rig.Must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	n := s.shared.known()
	rig.Check(t, n != 0 && n <= limit.Max, "%d of %d", n, limit.Max)
}

// A server gets a higher limit; what this program starts afterwards does not. Not in parallel: the
// limit is that of the whole program.
func TestOpenFilesOfWhatIsStartedLater(t *testing.T) {
	s := newServerAlone(t)
	s.panes()
	soft := s.shared.known()
	s.open(Spec{Name: "alpha", Command: shell(stay)})
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -Sn").Output()
	rig.Check(t, err == nil && strings.TrimSpace(string(out)) == strconv.FormatUint(soft, 10), "%q, %v; want %d", out, err, soft)
}
