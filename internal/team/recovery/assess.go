package recovery

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/triage"
)

// Limits are the limits by which agents are judged.
type Limits struct {
	Bands    agent.Bands
	Patience time.Duration // how long a busy agent may show no growth; 0: [DefaultPatience]
	// Compact reports whether a stuck agent with this percentage of its context left is compacted; nil: it is compacted
	// below the healthy band.
	Compact func(left int) bool
}

func (l *Limits) compacts(left int) bool {
	if l.Compact != nil {
		return l.Compact(left)
	}
	return l.Bands.Of(left) != agent.Healthy
}

// DefaultPatience is longer than the ten minutes that Claude allows a command of its shell tool: during such a
// command, other signs of progress may stay unchanged.
const DefaultPatience = 15 * time.Minute

// Patient is an agent with the findings of a look and a verdict.
type Patient struct {
	triage.Assessment
	At   time.Time // of the look
	View inspect.View
	Need *attention.Need // nil: it needs no person
}

// Assess looks at agents, with one call to each tmux server, and judges each agent. It changes nothing.
func Assess(ctx context.Context, look *inspect.Inspector, handles []agent.Handle, limits Limits) []Patient {
	if limits.Patience == 0 {
		limits.Patience = DefaultPatience
	}
	patients := make([]Patient, len(handles))
	judge := attention.NewJudge(look.Project, limits.Bands)
	for i, view := range look.Survey(ctx, handles, limits.Patience) {
		patients[i].View, patients[i].At = view, look.Project.Now()
		patients[i].Assessment = triage.Assess(triage.Known{
			View: &patients[i].View, Handle: handles[i], Now: patients[i].At, Bands: limits.Bands, Patience: limits.Patience,
		})
		patients[i].Need = judge.Of(&patients[i].View.Sight, patients[i].View.Context)
	}
	return patients
}

// Team checks that the named agents exist, and returns them; without names it returns all agents of the project.
// Errors: NotFound.
func Team(look *inspect.Inspector, named []agent.Handle) ([]agent.Handle, error) {
	if len(named) == 0 {
		return look.Project.Store.Handles()
	}
	for _, handle := range named {
		if _, err := look.Project.Store.Load(handle); fail.KindOf(err) == fail.NotFound {
			return nil, err
		}
	}
	return named, nil
}
