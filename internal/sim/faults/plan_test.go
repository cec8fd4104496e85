package faults

import (
	"slices"
	"testing"
)

func deal(seed uint64, n int) []string {
	plan := NewPlan(seed)
	var dealt []string
	for range n {
		dealt = append(dealt, plan.Next().String())
	}
	return dealt
}

func TestPlanIsAFunctionOfItsSeed(t *testing.T) {
	t.Parallel()
	if !slices.Equal(deal(1, 500), deal(1, 500)) {
		t.Error("one seed, two plans")
	}
	if slices.Equal(deal(1, 20), deal(2, 20)) {
		t.Error("two seeds, one plan")
	}
}

func TestPlanGoesEverywhere(t *testing.T) {
	t.Parallel()
	type at struct {
		verb   Verb
		moment Moment
	}
	plan := NewPlan(3)
	visited, victims, befores := map[at]int{}, map[string]int{}, map[Before]int{}
	passes := len(always)
	for range passes * len(plan.cards) {
		fault := plan.Next()
		fault.Moment.Share = 0
		visited[at{fault.Verb, fault.Moment}]++
		victims[fault.Who()]++
		befores[fault.Before]++
	}
	for verb := range steps {
		for _, m := range Steps(verb) {
			if n := visited[at{verb, m}]; n != passes {
				t.Errorf("%s %s: %d times in %d passes", verb, m, n, passes)
			}
		}
		if n := visited[at{verb, Moment{}}]; n != timed*passes {
			t.Errorf("%s at a time: %d", verb, n)
		}
	}
	for _, who := range always {
		if name := (Fault{Victims: who}).Who(); victims[name] == 0 {
			t.Errorf("nobody killed %s", name)
		}
	}
	if len(befores) != 5 { // four ways, and none for the other verbs
		t.Errorf("%v", befores)
	}
}

// A fault that cannot hit costs a round.
func TestPlanSparesTheDead(t *testing.T) {
	t.Parallel()
	plan := NewPlan(4)
	for range 10 * len(plan.cards) {
		fault := plan.Next()
		removed := fault.Moment.Step == "record removed"
		if removed && (fault.Hits(Claude) || fault.Hits(Launcher)) {
			t.Fatal(fault)
		}
	}
}

// Two who share a plan have been everywhere when half of it was dealt to each.
func TestSharesGoEverywhereTogether(t *testing.T) {
	t.Parallel()
	visited := map[Verb]map[Moment]bool{}
	for share := range 2 {
		plan := NewShare(5, share, 2)
		for range (len(plan.cards) + 1) / 2 {
			fault := plan.Next()
			if visited[fault.Verb] == nil {
				visited[fault.Verb] = map[Moment]bool{}
			}
			visited[fault.Verb][fault.Moment] = true
		}
	}
	for _, verb := range Verbs {
		for _, m := range Steps(verb) {
			if !visited[verb][m] {
				t.Errorf("%s %s was dealt to nobody", verb, m)
			}
		}
	}
}

func TestAgainIsAtTheStep(t *testing.T) {
	t.Parallel()
	for _, verb := range Verbs {
		for _, m := range Steps(verb) {
			for try := range 2 {
				if f := Again(verb, m, try); f.Verb != verb || f.Moment != m || len(f.Victims) != 1 || (f.Before == "") != (verb != Resume) {
					t.Error(f)
				}
			}
		}
	}
}
