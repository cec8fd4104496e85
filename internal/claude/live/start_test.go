package live

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// On macOS, Claude asks ps when a process started: the registry has a date where Linux has ticks.
func TestEntryOfAMac(t *testing.T) {
	t.Parallel()
	born := uint64(time.Date(2026, 11, 7, 9, 4, 5, 678901e3, time.UTC).UnixMicro())
	r := RegistryIn(t.TempDir())
	r.put(t, "31558.json", strings.Replace(entry197, "353737", "Sat Nov  7 09:04:05 2026", 1))
	entry, err := r.Entry(31558)
	rig.Must(t, err)
	for birth, want := range map[uint64]bool{born: true, born + 1_000_000: false, born - 1_000_000: false, 0: false} {
		rig.Equal(t, entry.Start.Is(birth), want, "a process that was born at %d", birth)
	}
	rig.Must(t, r.Forget(31558, born+1_000_000))
	_, err = r.Entry(31558)
	rig.Check(t, err == nil, "the entry of a later process was removed: %v", err)
	rig.Must(t, r.Forget(31558, born))
	_, err = r.Entry(31558)
	rig.Check(t, err != nil, "the entry of a killed process stays")
}

// An entry without a start belongs to no process.
func TestEntryWithoutAStart(t *testing.T) {
	t.Parallel()
	var none Start
	rig.Check(t, none.IsZero() && !none.Is(0) && !none.Is(353737), "%+v", none)
	rig.Check(t, StartAt(353737).Is(353737) && !StartAt(353737).Is(353738), "ticks")
}

// What ps prints is read, and nothing else is taken for it.
func FuzzStart(f *testing.F) {
	for _, text := range []string{"353737", "Sat Nov  7 09:04:05 2026", "Thu Jan  1 00:00:00 1970", "", "-1", "18446744073709551616"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s Start
		if s.UnmarshalText([]byte(text)) != nil {
			rig.Check(t, s.IsZero(), "%q: an error, and %+v", text, s)
			return
		}
		rig.Check(t, s.at == 0 || s.Is(s.at*s.unit), "%q: %+v is not itself", text, s)
	})
}
