package rig

import (
	"os/exec"
	"slices"
	"sync"
	"time"
)

// usualStart is what an empty start takes on the machine for which the times of the tests are written.
const usualStart = time.Millisecond

// raceCost is how many times longer our own programs take under the race detector.
const raceCost = 5

// patience is how long a test waits for what is to happen, on that machine and when it has nothing else to do.
const patience = time.Minute

// slowest is the most that this process has measured of the machine, in units of [usualStart].
var slowest struct {
	mu     sync.Mutex
	factor float64
}

// newest is what was measured last.
var newest struct {
	mu    sync.Mutex
	start time.Duration
	at    time.Time
}

// Slowness is how many times longer this machine takes than the one for which the times of the tests are written: 1 or
// more. Each call measures, since other work may have begun beside the tests. It never falls.
func Slowness() float64 {
	slowest.mu.Lock()
	defer slowest.mu.Unlock()
	slowest.factor = max(slowest.factor, slownessNow())
	return slowest.factor
}

// slownessNow falls, too. What was measured holds for a second: tests that run side by side ask often, and each
// measurement is work that makes the machine slower.
func slownessNow() float64 {
	newest.mu.Lock()
	defer newest.mu.Unlock()
	if newest.at.IsZero() || time.Since(newest.at) > time.Second {
		newest.start, newest.at = emptyStart(), time.Now()
	}
	factor := max(float64(newest.start)/float64(usualStart), 1)
	if Race {
		return raceCost * factor
	}
	return factor
}

// Scaled is a time of the usual machine, in the time of this one.
func Scaled(d time.Duration) time.Duration { return time.Duration(Slowness() * float64(d)) }

// emptyStart is the median of some starts of a program that does nothing.
func emptyStart() time.Duration {
	const starts = 9
	var took []time.Duration
	for range starts {
		begun := time.Now()
		_ = exec.Command("true").Run()
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[starts/2]
}
