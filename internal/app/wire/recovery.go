package wire

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/triage"
)

// Assessment says how well an agent is.
type Assessment struct {
	Handle   agent.Handle   `json:"handle"`
	Verdict  triage.Verdict `json:"verdict"`
	Level    triage.Level   `json:"level"` // of the repair that it needs: 0 a look, 2 compact, 3 resume, 4 a new conversation
	Evidence []string       `json:"evidence"`
	Command  string         `json:"command,omitempty"` // to run next
}

// NewAssessment converts an assessment, with the first of the commands to run next.
func NewAssessment(a *triage.Assessment, commands []string) Assessment {
	out := Assessment{Handle: a.Handle, Verdict: a.Verdict, Level: a.Level, Evidence: list(a.Evidence)}
	if len(commands) > 0 {
		out.Command = commands[0]
	}
	return out
}

// Recovered says what was found of an agent, what was done, and how it is afterwards.
type Recovered struct {
	Handle agent.Handle   `json:"handle"`
	Before Assessment     `json:"before"`
	First  *triage.Level  `json:"first_level,omitempty"` // of a dry run: what would be tried first
	Steps  []RecoveryStep `json:"steps"`
	After  *Assessment    `json:"after"`          // null: a dry run
	Left   string         `json:"left,omitempty"` // why nothing was done, or why no further step was tried
}

// RecoveryStep is one repair that was tried.
type RecoveryStep struct {
	Level  triage.Level `json:"level"`
	What   string       `json:"what"` // what this level does
	Why    string       `json:"why"`
	Helped bool         `json:"helped"`
	Result string       `json:"result"` // what was seen afterwards, or why it failed
	TookMS int64        `json:"took_ms"`
}

// NewRecovered converts a case of a run, with the commands to run next.
func NewRecovered(c *recovery.Case, commands []string) Recovered {
	return Recovered{
		Handle: c.Handle, Before: NewAssessment(&c.Before, nil), After: new(NewAssessment(&c.After.Assessment, commands)), Left: c.Left,
		Steps: agent.Mapped(c.Steps, func(s recovery.Step) RecoveryStep {
			return RecoveryStep{Level: s.Level, What: s.Level.String(), Why: s.Why, Helped: s.Helped, Result: s.Result, TookMS: s.Took.Milliseconds()}
		}),
	}
}
