package watch

import (
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/notify"
	"nbs-worker/internal/team/triage"
)

// Policy says what the user permits a watch to do.
type Policy struct {
	Agents, Except []agent.Handle // no Agents: all agents of the project
	MaxLevel       triage.Level   // of a repair
	Every          time.Duration  // interval at which an agent that is not at rest is looked at without a sign
	Patience       time.Duration  // how long a busy agent may show no growth

	PerHour  int // repairs of all agents together
	PerAgent int // repairs of one agent in an hour; after that many it is quarantined

	Bands   agent.Bands // of the context
	Compact agent.Band  // the band at which an agent is compacted, and below it; "": never

	Notify *Notify // nil: no notices
}

// Notify says which events to notify of, and how.
type Notify struct {
	Program notify.Program
	Of      []Kind
	PerHour int
}

// Default returns the policy that holds without a file.
func Default() Policy {
	return Policy{
		MaxLevel: triage.LevelResume, Every: 5 * time.Minute, Patience: 15 * time.Minute,
		PerHour: 12, PerAgent: 3, Bands: agent.DefaultBands, Compact: agent.Critical,
	}
}

// covers reports whether an agent is watched.
func (p *Policy) covers(handle agent.Handle) bool {
	return (len(p.Agents) == 0 || slices.ContainsFunc(p.Agents, handle.Same)) && !slices.ContainsFunc(p.Except, handle.Same)
}

// compacts reports whether so little context is left that the agent is compacted.
func (p *Policy) compacts(left int) bool {
	switch p.Compact {
	case agent.Low:
		return left <= p.Bands.Low
	case agent.Critical:
		return left < p.Bands.Critical
	default:
		return false
	}
}
