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
	// Quiet waits for another command that is at work on an agent, and ends soon: what that does may be all that is needed.
	Quiet(ctx context.Context, handle agent.Handle)
	// Unload interrupts an agent that is stuck, and compacts its conversation where little of the
	// context is left, by the limits. Errors: ErrFloor.
	Unload(ctx context.Context, p *Patient) error
	// Resume ends what is left of an agent's last start, and starts it again in its conversation.
	Resume(ctx context.Context, p *Patient) error
	// StartFresh starts an agent in a new conversation, or in the one that the attempt made before it
	// was cut short, and tells it where the old one is.
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

// errLogin means that nobody is logged in: an agent that is started answers no prompt.
var errLogin = errors.New("nobody is logged in")

// Options say how far a run goes.
type Options struct {
	Handles  []agent.Handle // in the order of their turns
	Named    bool           // a person named them: held ones are repaired too, where a start may help
	MaxLevel triage.Level
	Fresh    bool                  // a new conversation is permitted
	Leave    func(p *Patient) bool // whether an agent that is not well is left as it is, also after a step; nil: never
	Stagger  time.Duration         // between two starts
	GiveUp   int                   // after this many failed starts in a row; 0: never
	Progress func(c *Case)         // called when a step begins and when it has ended; may be nil
}

// Case is how an agent was found, what was done, and how it was afterwards.
type Case struct {
	Handle agent.Handle
	Before triage.Assessment
	After  Patient
	Steps  []Step
	Left   string // why nothing, or nothing more, was done; may be ""
	Held   bool   // a person is needed before the repair can go on, however well the agent looks
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
	Stopped string // why it ended before every agent had its turn; "": it did not
}

// Ladder repairs agents.
type Ladder struct {
	Verbs
	Memory
}

// Run repairs the agents in their order, and looks at all of them at the end. An interrupt ends the
// run after the present step. Errors: Conflict while another run is at work.
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

// Plan looks at the agents and notes for each why nothing would be done, if so; [Ladder.First] returns
// what would be tried first. It changes nothing.
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

// First returns the level that would be tried first for a case of a plan, and whether any would.
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
