// Package human formats text for people: it quotes text safely for terminals and pasting, counts, and shortens.
package human

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Numbers as people read them.

// Thousands writes a number with commas: "1,234,567".
func Thousands(n int) string {
	digits, negative := strings.CutPrefix(strconv.Itoa(n), "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// Bytes writes a size in powers of 1024: "512 B", "9.5 KiB", "120 MiB".
func Bytes(n uint64) string {
	const step = 1024
	size, unit := float64(n), 0
	for ; size >= step && unit < len("KMGTPE"); unit++ {
		size /= step
	}
	switch {
	case unit == 0:
		return fmt.Sprintf("%d B", n)
	case size < 9.95: // from 9.95 on, %.1f writes "10.0"
		return fmt.Sprintf("%.1f %ciB", size, "KMGTPE"[unit-1])
	}
	return fmt.Sprintf("%.0f %ciB", size, "KMGTPE"[unit-1])
}

// And joins words: "Bash", "Bash and Write", "Bash, Write and Read".
func And(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

const day = 24 * time.Hour

// Brief formats a duration in its largest unit: "50s", "5m", "3h", "12d".
func Brief(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, d)/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return fmt.Sprintf("%dd", d/day)
	}
}

// Ago returns how long before now something was, in one unit: "3 hours ago".
func Ago(at, now time.Time) string {
	passed, when := now.Sub(at), "ago"
	if passed < 0 {
		passed, when = -passed, "from now"
	}
	for _, unit := range []struct {
		name string
		is   time.Duration
	}{
		{"year", 365 * day}, {"month", 30 * day}, {"week", 7 * day}, {"day", day},
		{"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second},
	} {
		switch n := int(passed / unit.is); {
		case n == 1:
			return fmt.Sprintf("1 %s %s", unit.name, when)
		case n > 1:
			return fmt.Sprintf("%d %ss %s", n, unit.name, when)
		}
	}
	return "now"
}

// Count formats a number of things: "1 process", "2 processes".
func Count(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "s"):
		return fmt.Sprintf("%d %ses", n, thing)
	default:
		return fmt.Sprintf("%d %ss", n, thing)
	}
}
