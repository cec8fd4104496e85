package recovery

import (
	"context"
	"errors"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/runs"
	"nbs-worker/internal/team/triage"
)

// Verbs are the actions of a repair. Each returns after it has observed its result.
type Verbs interface {
	Look(ctx context.Context, handles []agent.Handle) []Patient
	// Quiet waits for a short command that holds an agent: its result may be all that is needed.
	Quiet(ctx context.Context, handle agent.Handle)
	// Unload interrupts a stuck agent, and compacts its conversation if by the limits little context is left. Errors:
	// errFloor.
	Unload(ctx context.Context, p *Patient) error
	// Resume ends what is left of an agent's last start, and resumes its conversation in a new start.
	Resume(ctx context.Context, p *Patient) error
	// StartFresh starts an agent in a new conversation, or in the one that an interrupted attempt has created. It tells
	// the agent where the old conversation is.
	StartFresh(ctx context.Context, p *Patient, attempt runs.Attempt) error
}

// Memory is what is kept between runs.
type Memory interface {
	Lock() (unlock func(), err error) // held while agents are repaired
	Attempt(handle agent.Handle) (*runs.Attempt, error)
	PutAttempt(handle agent.Handle, attempt runs.Attempt) error
	DropAttempt(handle agent.Handle) error
	Note(ctx context.Context, p *Patient, detail string) error // in the journal
}

// errFloor means that compacting a conversation frees nothing any more.
var errFloor = errors.New("compaction floor")

// Options say how far a run goes.
type Options struct {
	Handles  []agent.Handle // in the order of repair
	Named    bool           // a person named them: held agents are repaired too, if a start may help
	MaxLevel triage.Level
	Fresh    bool                  // a new conversation is permitted
	Leave    func(p *Patient) bool // whether an agent that is not well is left alone, also after a step; nil: never
	Stagger  time.Duration         // between two starts
	GiveUp   int                   // after this many failed starts in a row; 0: never
	Progress func(c *Case)         // called when a step begins and when it has ended; may be nil
}

// Case is what was found of an agent, what was done, and the result.
type Case struct {
	Handle agent.Handle
	Before triage.Assessment
	After  Patient
	Steps  []Step
	Left   string // why nothing, or nothing more, was done; may be ""
	Held   bool   // a person is needed before the repair can go on, even if the agent looks well
}

// Step is one repair.
type Step struct {
	Level  triage.Level
	Why    string // what was seen before
	Helped bool
	Result string // what was seen after it, or why it failed; "": it is not over
	Took   time.Duration
}

// Report is the outcome of a run.
type Report struct {
	Cases   []Case
	Stopped string // why the run stopped early; "": it did not
}

// Ladder repairs agents.
type Ladder struct {
	Verbs
	Memory
}

// Run repairs the agents in order, and looks at all of them at the end. An interrupt ends the run after the present
// step. Errors: Conflict while another run is active.
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

// Plan looks at the agents and records for each why nothing would be done, if so. [Ladder.First] returns what would
// be tried first. Plan changes nothing.
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

// First returns the level that would be tried first for a case of a plan, and whether any level would be tried.
func (l *Ladder) First(c *Case, o Options) (triage.Level, bool) {
	level, left := l.next(&c.After, &o, 0)
	return level, left == "" && !c.Before.Verdict.IsWell()
}

// verify looks at all agents again, and forgets the repairs of well agents.
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
