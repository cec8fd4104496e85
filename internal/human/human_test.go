package human_test

import (
	"math"
	"testing"
	"time"

	"nbs-worker/internal/human"
	"nbs-worker/internal/sim/rig"
)

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 160000: "160,000", 1234567: "1,234,567", -100: "-100", -1000: "-1,000", math.MinInt64: "-9,223,372,036,854,775,808"} {
		rig.Equal(t, human.Thousands(n), want, "%d", n)
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 9728: "9.5 KiB", 10239: "10 KiB", 10240: "10 KiB", 1 << 20: "1.0 MiB", 120 << 20: "120 MiB",
		5 << 30: "5.0 GiB", math.MaxUint64: "16 EiB",
	} {
		rig.Equal(t, human.Bytes(n), want, "%d", n)
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for passed, want := range map[time.Duration]string{
		0: "now", time.Second - 1: "now", time.Second: "1 second ago", 59 * time.Second: "59 seconds ago", time.Minute: "1 minute ago",
		3 * time.Hour: "3 hours ago", 24 * time.Hour: "1 day ago", 15 * 24 * time.Hour: "2 weeks ago", 60 * 24 * time.Hour: "2 months ago",
		800 * 24 * time.Hour: "2 years ago", -90 * time.Minute: "1 hour from now",
	} {
		rig.Equal(t, human.Ago(now.Add(-passed), now), want, "%s", passed)
	}
}
