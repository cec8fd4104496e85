package recovery

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/runs"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/message"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/triage"
)

// readyTime is how long a start may take until the agent is ready.
const readyTime = time.Minute

// New returns a ladder for the agents of a project. verb is the command that repairs them. progress is called with
// what a slow start waits for.
func New(s *supervisor.Supervisor, limits Limits, verb string, progress func(agent.Handle, string)) *Ladder {
	return &Ladder{
		Verbs:  &verbs{supervisor: s, limits: limits, progress: progress},
		Memory: &memory{Runs: s.Project.Store.Runs(), s: s, verb: verb},
	}
}

// verbs are the [Verbs] of a supervisor.
type verbs struct {
	supervisor *supervisor.Supervisor
	limits     Limits
	progress   func(agent.Handle, string)
}

func (v *verbs) Look(ctx context.Context, handles []agent.Handle) []Patient {
	return Assess(ctx, v.supervisor.Inspector, handles, v.limits)
}

func (v *verbs) Quiet(ctx context.Context, handle agent.Handle) {
	_ = v.supervisor.Quiet(ctx, handle, "recover") // the next step finds what is in the way, and reports it
}

// Resume ends a running agent first only if it is a zombie or stuck.
func (v *verbs) Resume(ctx context.Context, p *Patient) error {
	hangs := p.Verdict == triage.Zombie || p.Verdict == triage.Stuck
	return v.start(ctx, p, supervisor.Resume{Force: hangs})
}

func (v *verbs) StartFresh(ctx context.Context, p *Patient, attempt runs.Attempt) error {
	replaced := p.View.Record.SessionID != attempt.SessionID
	return v.start(ctx, p, supervisor.Resume{
		Fresh: !replaced, Force: p.View.Status.SamePID, Start: launch.Start{Prompt: cmp.Or(p.View.Record.InitialPrompt, goOn)},
		Brief: &supervisor.Briefing{SessionID: attempt.SessionID, Why: attempt.Why},
	})
}

// goOn is the first prompt of a new conversation if the record of the agent has no prompt.
const goOn = "You are in a new conversation. Read the notes about your earlier one, find out what is left to do, and go on from there."

func (v *verbs) start(ctx context.Context, p *Patient, resume supervisor.Resume) error {
	resume.Wait, resume.Patience = readyTime, true
	resume.Unstopped = p.View.Record.LaunchDesired() != agent.DesiredStopped
	resume.Progress = func(what string) { v.progress(p.Handle, what) }
	_, err := v.supervisor.Resume(ctx, p.Handle, resume)
	return err
}

// compactTime is how long an agent may take to reach its prompt, and again to compact.
const compactTime = 5 * time.Minute

func (v *verbs) Unload(ctx context.Context, p *Patient) error {
	sender := message.New(v.supervisor)
	if p.Verdict == triage.Stuck {
		if _, err := sender.Interrupt(ctx, p.Handle); err != nil {
			return err
		}
	}
	use := p.View.Context
	if p.Verdict != triage.Stressed && (use == nil || !v.limits.compacts(use.LeftPercent())) {
		return nil
	}
	compaction, err := sender.Compact(ctx, p.Handle, message.Compact{Timeout: compactTime})
	if err != nil && compaction.Floor {
		return fmt.Errorf("%w: %w", errFloor, err)
	}
	return err
}

// memory is the [Memory] of a project, in its store.
type memory struct {
	*runs.Runs
	s    *supervisor.Supervisor
	verb string
}

func (m *memory) Lock() (func(), error) {
	return m.s.Project.Store.LockRecovery(m.verb, m.s.Project.Seconds())
}

func (m *memory) Note(ctx context.Context, p *Patient, detail string) error {
	return m.s.Project.Note(ctx, m.verb, &p.View.Record, detail)
}
