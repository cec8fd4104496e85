package campaign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"nbs-worker/internal/sim/faults"
)

// tally counts kills and misses, and at which steps the kills really came: one that is a moment late hits another step
// than was planned.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
	late   map[string]int
	hit    map[string]map[faults.Moment]bool // by kind and verb
}

func newTally() *tally {
	return &tally{counts: map[string]int{}, late: map[string]int{}, hit: map[string]map[faults.Moment]bool{}}
}

// of is what is counted by kind of claude and verb.
func of(kind string, verb faults.Verb) string { return kind + ": " + string(verb) }

func (c *tally) add(kind string, fault faults.Fault, became faults.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !became.Hit {
		c.counts[kind+": missed"]++
		return
	}
	verb := of(kind, fault.Verb)
	c.counts[kind+": killed"]++
	c.counts[verb+": "+fault.Who()]++
	if c.hit[verb] == nil {
		c.hit[verb] = map[faults.Moment]bool{}
	}
	c.hit[verb][became.At] = true
	if fault.Moment.Step != "" && fault.Moment != became.At {
		c.late[fmt.Sprintf("%s: planned %s, killed %s", verb, fault.Moment, became.At)]++
	}
}

// missing are the steps of a verb at which nobody was killed.
func (c *tally) missing(kind string, verb faults.Verb) []faults.Moment {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(faults.Steps(verb), func(m faults.Moment) bool { return c.hit[of(kind, verb)][m] })
}

// has reports whether somebody was killed at the step.
func (c *tally) has(kind string, verb faults.Verb, at faults.Moment) bool {
	return !slices.Contains(c.missing(kind, verb), at)
}

func (c *tally) String() string {
	var lines []string
	for _, kind := range []string{"real", "stand-in"} {
		for _, verb := range faults.Verbs {
			all, missing := faults.Steps(verb), c.missing(kind, verb)
			lines = append(lines, fmt.Sprintf("%s: killed at %d of its %d steps%s", of(kind, verb), len(all)-len(missing), len(all), butNot(missing)))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(slices.Concat(counted(c.counts), counted(c.late), lines), "\n")
}

func butNot(missing []faults.Moment) string {
	if len(missing) == 0 || len(missing) > 10 {
		return "" // a short campaign has not been to most
	}
	return fmt.Sprintf(", not %s", missing)
}

func counted(counts map[string]int) []string {
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%5d  %s", counts[what], what))
	}
	return lines
}
