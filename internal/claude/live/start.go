package live

import (
	"fmt"
	"strconv"
	"time"
)

// Start is when a process started, as Claude's registry has it: on Linux field 22 of /proc/<pid>/stat, on macOS the
// answer of ps -o lstart in whole seconds. The zero value is the start of an entry that has none.
type Start struct{ at, unit uint64 } // unit: how much of a birth of package machine counts as one

// StartAt returns the start of a process that was born then.
func StartAt(birth uint64) Start { return Start{birth, 1} }

// Is reports whether a process with this birth is the one of the entry. On macOS two processes that started in the same
// second and had the same pid are not told apart.
func (s Start) Is(birth uint64) bool { return s.unit != 0 && birth != 0 && birth/s.unit == s.at }

// IsZero reports whether the entry has no start.
func (s Start) IsZero() bool { return s == Start{} }

// UnmarshalText reads the start of an entry.
func (s *Start) UnmarshalText(text []byte) error {
	if ticks, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		*s = StartAt(ticks)
		return nil
	}
	const micro = 1_000_000 // births of macOS are in microseconds
	at, err := time.Parse(time.ANSIC, string(text))
	if err != nil || at.Unix() < 0 {
		return fmt.Errorf("%q is no start of a process", text)
	}
	*s = Start{uint64(at.Unix()), micro} //nolint:gosec // it is positive
	return nil
}
