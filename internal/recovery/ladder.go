package recovery

import (
	"context"
	"errors"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/runs"
	"nbs-worker/internal/triage"
)

// Verbs are what a repair is made of. Each returns when it has seen what it did.
type Verbs interface {
	Look(ctx context.Context, handles []agent.Handle) []Patient
	// Unload interrupts an agent that is stuck, and compacts its conversation where little of the
	// context is left, by the limits. Errors: ErrFloor.
	Unload(ctx context.Context, p *Patient) error
	// Resume brings an agent back into its conversation; what is left of it is ended first.
	Resume(ctx context.Context, p *Patient) error
	// StartFresh brings an agent back in a new conversation, unless the attempt has made one before it
	// was cut short, and tells it where the old one is.
	StartFresh(ctx context.Context, p *Patient, attempt runs.Attempt) error
}

// Memory is what outlives a run.
type Memory interface {
	Lock() (unlock func(), err error) // for who repairs
	Attempt(handle agent.Handle) (*runs.Attempt, error)
	PutAttempt(handle agent.Handle, attempt runs.Attempt) error
	DropAttempt(handle agent.Handle) error
	Note(ctx context.Context, p *Patient, detail string) error // in the journal
}

// ErrFloor is that compacting a conversation frees nothing any more.
var ErrFloor = errors.New("compaction floor")

// ErrLogin is that nobody is logged in: what is started will answer no prompt.
var ErrLogin = errors.New("nobody is logged in")

// Options say how far a run goes.
type Options struct {
	Handles  []agent.Handle // in the order of their turns
	Named    bool           // a person named them: also those that are held, where a start may help
	MaxLevel triage.Level
	Fresh    bool                  // a new conversation is permitted
	Leave    func(p *Patient) bool // whether one that is not well is left as it is, also after a step; nil: none is
	Stagger  time.Duration         // between two starts
	GiveUp   int                   // after so many failures in a row; 0: never
	Progress func(c *Case)         // is told of each step that is begun, and that has ended; nil: nobody is
}

// Case is what was found of an agent, what was done, and how it is then.
type Case struct {
	Handle agent.Handle
	Before triage.Assessment
	After  Patient
	Steps  []Step
	Left   string // why nothing was done, or nothing more; ""
	Held   bool   // a person has to come before the repair can go on, as well as the agent may look
}

// Step is one repair.
type Step struct {
	Level  triage.Level
	Why    string // what was seen before
	Helped bool
	Result string // what was seen after it, or why it failed; "": it is going on
	Took   time.Duration
}

// Report is what came of a run.
type Report struct {
	Cases   []Case
	Stopped string // why it ended before all had their turn; ""
}

// Ladder repairs agents.
type Ladder struct {
	Verbs
	Memory
}

// Run repairs agents in their order, and looks at all of them at the end. Errors: Conflict when
// another run goes on. An interrupt ends it after the step that goes on.
func (l *Ladder) Run(ctx context.Context, o Options) (Report, error) {
	unlock, err := l.Lock()
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	r := &run{Ladder: l, Options: o}
	report := Report{Cases: l.Plan(ctx, o)}
	for i := range report.Cases {
		c := &report.Cases[i]
		l.noteCutShort(ctx, &c.After)
		if c.Left == "" && !c.Before.Verdict.IsWell() {
			c.Left = r.treat(ctx, c)
		}
	}
	l.verify(context.WithoutCancel(ctx), report.Cases)
	report.Stopped = r.stopped
	return report, ctx.Err()
}

// Plan looks at the agents and says of each what would be tried first, or why nothing would. It
// changes nothing. The level is that of the case's only step.
func (l *Ladder) Plan(ctx context.Context, o Options) []Case {
	patients := l.Look(ctx, o.Handles)
	cases := make([]Case, len(patients))
	for i := range patients {
		p := &patients[i]
		cases[i] = Case{Handle: p.Handle, Before: p.Assessment, After: *p}
		_, cases[i].Left = l.next(p, &o, 0)
	}
	return cases
}

// First is what would be tried first for a case of a plan.
func (l *Ladder) First(c *Case, o Options) (triage.Level, bool) {
	level, left := l.next(&c.After, &o, 0)
	return level, left == "" && !c.Before.Verdict.IsWell()
}

// verify looks at all agents again, and forgets the repairs of those that are well.
func (l *Ladder) verify(ctx context.Context, cases []Case) {
	handles := make([]agent.Handle, len(cases))
	for i := range cases {
		handles[i] = cases[i].Handle
	}
	for i, p := range l.Look(ctx, handles) {
		c := &cases[i]
		if c.After = p; !p.Verdict.IsWell() || c.Held {
			continue
		}
		c.Left = ""
		if err := l.DropAttempt(c.Handle); err != nil {
			c.Left = "its repair cannot be forgotten: " + err.Error()
		}
	}
}
