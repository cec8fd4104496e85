package attention

import (
	"cmp"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// Judge finds the needs of a project's agents. It holds what they are judged by: the user's looks, which are read
// once, the bands of context, and the time.
type Judge struct {
	Bands agent.Bands
	Now   time.Time
	Seen  map[string]time.Time // when the user last looked at each agent, by its key
}

// NewJudge returns the judge of a project's agents at the present time.
func NewJudge(project *observe.Project, bands agent.Bands) *Judge {
	return &Judge{Bands: bands, Now: project.Now(), Seen: project.Store.Seen().All()}
}

// Of returns why an agent needs a person; nil if it does not.
func (j *Judge) Of(sight *observe.Sight, use *agent.ContextUse) *Need {
	return Of(&Known{Sight: sight, Context: use, Bands: j.Bands, Now: j.Now, Seen: j.Seen[sight.Record.Handle.Key()]})
}

// Row returns why the agent of a list needs a person; nil if it does not.
func (j *Judge) Row(row *inspect.Row) *Need {
	if row.Record.Handle == "" && row.Err != nil {
		return &Need{Reason: Down, What: "its record cannot be read", Seen: !j.Seen[row.Handle.Key()].IsZero()}
	}
	return j.Of(&row.Sight, row.Context)
}

// Rows returns the needs of the agents of a list, in its order; nil for an agent that needs nobody.
func (j *Judge) Rows(rows []inspect.Row) []*Need {
	needs := make([]*Need, len(rows))
	for i := range rows {
		needs[i] = j.Row(&rows[i])
	}
	return needs
}

// Needy is an agent that needs a person.
type Needy struct {
	*Need
	Handle agent.Handle
}

// Queue returns the agents of a list that need a person, the most urgent first.
func (j *Judge) Queue(rows []inspect.Row) []Needy {
	var queue []Needy
	for i, need := range j.Rows(rows) {
		if need != nil {
			queue = append(queue, Needy{need, rows[i].Handle})
		}
	}
	slices.SortStableFunc(queue, func(a, b Needy) int { return cmp.Or(Compare(a.Need, b.Need), cmp.Compare(a.Handle, b.Handle)) })
	return queue
}
