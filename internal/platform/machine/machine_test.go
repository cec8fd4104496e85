package machine

import (
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// An error passes: what is read at the next call is kept.
func TestWhatIsReadOnceIsReadAgainAfterAnError(t *testing.T) {
	t.Parallel()
	calls := 0
	read := onceRead(func() (int, error) {
		if calls++; calls == 1 {
			return 0, syscall.EMFILE
		}
		return calls, nil
	})
	for _, want := range []int{0, 2, 2} {
		got, err := read()
		rig.Check(t, got == want && (err == nil) == (want != 0), "%d, %v; want %d", got, err, want)
	}
}

// The kills that count are those since the start.
func TestKillsSinceTheStart(t *testing.T) {
	t.Parallel()
	var now uint64
	watch := MemoryWatch{kills: func() (uint64, error) { return now, nil }, before: 3}
	for count, want := range map[uint64]uint64{3: 0, 5: 2, 1: 0} {
		now = count
		rig.Equal(t, watch.Kills(), want, "kills at %d", count)
	}
	rig.Equal(t, MemoryWatch{}.Kills(), 0, "kills of nothing")
}

// A limit grows with the load of the machine.
func TestPatienceOnABusyMachine(t *testing.T) {
	t.Parallel()
	for load, want := range map[float64]time.Duration{0: 30 * time.Second, 4: 30 * time.Second, 8: time.Minute, 34: 255 * time.Second, 400: 5 * time.Minute} {
		got := patience(30*time.Second, func() (float64, int) { return load, 2 })
		rig.Equal(t, got, want, "limit at load %.0f", load)
	}
}
