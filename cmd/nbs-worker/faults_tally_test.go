package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"nbs-worker/internal/sim/faults"
)

// tally counts kills and misses, and the steps at which somebody was killed.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
	steps  map[string]map[faults.Moment]bool
}

func newTally() *tally {
	return &tally{counts: map[string]int{}, steps: map[string]map[faults.Moment]bool{}}
}

func (c *tally) add(kind string, fault faults.Fault, hit bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !hit {
		c.counts[kind+": missed"]++
		return
	}
	c.counts[kind+": killed"]++
	c.counts[fmt.Sprintf("%s: %s: %s", kind, fault.Verb, fault.Who())]++
	verb := fmt.Sprintf("%s: %s", kind, fault.Verb)
	if c.steps[verb] == nil {
		c.steps[verb] = map[faults.Moment]bool{}
	}
	if fault.Moment.Step != "" {
		c.steps[verb][fault.Moment] = true
	}
}

func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(c.counts)) {
		lines = append(lines, fmt.Sprintf("%5d  %s", c.counts[what], what))
	}
	for _, what := range slices.Sorted(maps.Keys(c.steps)) {
		_, verb, _ := strings.Cut(what, ": ")
		lines = append(lines, fmt.Sprintf("%s: at %d of its %d steps", what, len(c.steps[what]), len(faults.Steps(faults.Verb(verb)))))
	}
	return strings.Join(lines, "\n")
}
