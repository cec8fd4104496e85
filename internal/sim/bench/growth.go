package bench

import (
	"cmp"
	"slices"
)

// Growth is how much more something takes for each further agent, from its times at several sizes of the team.
type Growth struct {
	Name     string
	From, To int     // agents
	Floor    float64 // microseconds for each further agent
	Ours     float64
}

// Growth compares the smallest with the largest team.
func (r Result) Growth() []Growth {
	var found []Growth
	for _, last := range r.Pairs {
		first := r.Pairs[slices.IndexFunc(r.Pairs, func(p Pair) bool { return p.Name == last.Name })]
		if last.Agents <= first.Agents {
			continue
		}
		further := float64(last.Agents-first.Agents) / 1000
		growth := Growth{
			Name: last.Name, From: first.Agents, To: last.Agents,
			Floor: (last.Floor.Median - first.Floor.Median) / further,
			Ours:  (last.Ours.Median - first.Ours.Median) / further,
		}
		if i := slices.IndexFunc(found, func(g Growth) bool { return g.Name == last.Name }); i >= 0 {
			found[i] = growth
		} else {
			found = append(found, growth)
		}
	}
	return found
}

// byName groups the pairs of one name, in the order in which the names first appear.
func byName(pairs []Pair) []Pair {
	place := map[string]int{}
	for i, p := range pairs {
		if _, known := place[p.Name]; !known {
			place[p.Name] = i
		}
	}
	return slices.SortedStableFunc(slices.Values(pairs), func(a, b Pair) int { return cmp.Compare(place[a.Name], place[b.Name]) })
}
