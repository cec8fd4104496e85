package hosts

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// An error says at which host it is, in whatever parts it arrives.
func TestWhatIsSaidAtAHost(t *testing.T) {
	t.Parallel()
	const text = "\nnbs-worker: stop bob: ü\nhint: nbs-worker: x\nnbs-work\nnbs-worker: again\nnbs"
	for size := range len(text) {
		var to strings.Builder
		s := saidAt{host: "build1", to: &to}
		for rest := text; rest != ""; {
			part := rest[:min(size+1, len(rest))]
			rest = rest[len(part):]
			n, err := s.Write([]byte(part))
			rig.Check(t, n == len(part) && err == nil, "%d bytes, %v", n, err)
		}
		s.flush()
		rig.Equal(t, to.String(), "\nnbs-worker: build1: stop bob: ü\nhint: nbs-worker: x\nnbs-work\nnbs-worker: build1: again\nnbs", "in parts of %d", size+1)
	}
}
