package bench

import (
	"slices"
	"time"
)

// Stats sums a series up. Times are in milliseconds.
type Stats struct {
	Samples int     `json:"samples"`
	Min     float64 `json:"min_ms"`
	Median  float64 `json:"median_ms"`
	P95     float64 `json:"p95_ms"`
}

func newStats(series []time.Duration) Stats {
	n := len(series)
	if n == 0 {
		return Stats{}
	}
	sorted := slices.Sorted(slices.Values(series))
	return Stats{
		Samples: n,
		Min:     milliseconds(sorted[0]),
		Median:  milliseconds(sorted[(n-1)/2]+sorted[n/2]) / 2,
		P95:     milliseconds(sorted[(n*95+99)/100-1]),
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
