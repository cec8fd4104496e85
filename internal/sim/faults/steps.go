package faults

// moment is a Moment and whether the agent still runs then.
type moment struct {
	Moment
	late bool // claude and its launcher have ended
}

// run is a step that a verb makes several times, and the first and the last time that is worth a kill.
type run struct {
	step        string
	first, last int
	late        bool // claude and its launcher have ended
}

// steps are those of each verb when nothing disturbs it, with those of launcher, claude and tmux among them.
// TestStepsAreThoseOfTheVerbs in internal/e2e/campaign compares them with a real run.
var steps = map[Verb][]run{
	Spawn:  append(starting(4, 3), run{step: "transcript", first: 1, last: 1}),
	Resume: starting(5, 4),
	Force:  append(starting(6, 4), run{step: "unregistered", first: 1, last: 1}, run{step: "journal", first: 3, last: 3}, run{step: "lease", first: 2, last: 2}),
	Stop:   ending(),
	Dismiss: append(ending(),
		run{step: "record removed", first: 1, last: 1, late: true}),
}

// starting are the steps of a verb that starts an agent.
func starting(records, registered int) []run {
	return []run{
		{step: "verb lock", first: 1, last: 1},
		{step: "record begun", first: 1, last: records},
		{step: "record", first: 1, last: records},
		{step: "journal", first: 1, last: 2},
		{step: "launch file begun", first: 1, last: 1},
		{step: "launch file", first: 1, last: 1},
		{step: "tmux socket", first: 1, last: 1},
		{step: "launch file taken", first: 1, last: 1},
		{step: "lease", first: 1, last: 1},
		{step: "registered", first: 1, last: registered},
		{step: "prompt history", first: 1, last: 1},
		{step: "transcript line", first: 1, last: 2},
	}
}

// ending are the steps of a verb that ends an agent.
func ending() []run {
	return []run{
		{step: "verb lock", first: 1, last: 1},
		{step: "record begun", first: 1, last: 2},
		{step: "record", first: 1, last: 2},
		{step: "unregistered", first: 1, last: 1},
		{step: "journal", first: 1, last: 1},
		{step: "lease", first: 1, last: 1, late: true},
		{step: "journal", first: 2, last: 2, late: true},
		{step: "verb lock", first: 2, last: 2, late: true},
	}
}

// timed is how many moments of each verb are given by time instead of a step.
const timed = 4

// Steps are the moments of a verb that are given by a step.
func Steps(verb Verb) []Moment {
	var named []Moment
	for _, m := range momentsOf(verb) {
		if m.Step != "" {
			named = append(named, m.Moment)
		}
	}
	return named
}

func momentsOf(verb Verb) []moment {
	var all []moment
	for _, run := range steps[verb] {
		for n := run.first; n <= run.last; n++ {
			all = append(all, moment{Moment: Moment{Step: run.step, Nth: n}, late: run.late})
		}
	}
	for range timed {
		all = append(all, moment{})
	}
	return all
}
