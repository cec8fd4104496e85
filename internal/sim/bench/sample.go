package bench

import (
	"context"
	"time"
)

// Effort says how many samples are taken: Max, or fewer when Limit is over, but at least Min.
type Effort struct {
	Min, Max int
	Limit    time.Duration // for one comparison
}

// fewer is for what must be undone after each sample.
func (e Effort) fewer() Effort {
	e.Max = max(e.Min, e.Max/4)
	return e
}

// few is for what takes most of a second.
func (e Effort) few() Effort {
	e.Min = min(e.Min, 10)
	e.Max = e.Min
	return e
}

// many is for what varies by more than the difference that is measured.
func (e Effort) many() Effort {
	e.Min = min(e.Max, 5*e.Min)
	e.Max = e.Min
	return e
}

// sampler does one thing once and says how long it took.
type sampler func(ctx context.Context) (time.Duration, error)

const warmUps = 1 // per side: files in the page cache, the server awake

// interleave samples two things in turns; which goes first alternates.
func interleave(ctx context.Context, effort Effort, floor, ours sampler) (Stats, Stats, error) {
	sides := [2]sampler{floor, ours}
	var series [2][]time.Duration
	begun := time.Now()
	for round := -warmUps; round < effort.Max; round++ {
		if round == 0 {
			begun = time.Now()
		}
		if round >= effort.Min && time.Since(begun) > effort.Limit {
			break
		}
		for turn := range 2 {
			side := (round + turn) & 1
			took, err := sides[side](ctx)
			if err != nil {
				return Stats{}, Stats{}, err
			}
			if round >= 0 {
				series[side] = append(series[side], took)
			}
		}
	}
	return newStats(series[0]), newStats(series[1]), nil
}
