package supervisor

import (
	"context"
	"errors"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/launcher"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/teardown"
)

// restartWait is how long a launcher waits for a restarted claude to be ready.
const restartWait = time.Minute

// Restarter implements [launcher.Restarter], in the environment of the command that asked for the first start.
type Restarter struct{ Project *observe.Project }

// Ready takes a turn and the verb lock, and then does what resume would. It waits for them only while the agent is as
// its launcher left it: a command that changes the agent decides what follows.
func (r Restarter) Ready(ctx context.Context, over *agent.Record, last store.Launch) (launcher.Restart, error) {
	project := *r.Project
	project.Env, project.Began = last.Env, project.Now()
	s := New(&project, nil) // a launcher only repeats a start that was within its caller's rights
	letGo, err := s.lockAgain(ctx, over)
	if err != nil {
		return launcher.Restart{}, err
	}
	ready, err := s.readyAgain(context.WithoutCancel(ctx), over, last)
	if err != nil {
		letGo()
		return ready, err
	}
	ready.Release = letGo
	return ready, nil
}

// verbAgain is how often a launcher tries to take a verb lock that another command holds.
const verbAgain = 100 * time.Millisecond

// lockAgain takes a turn and the verb lock of an agent that is as its launcher left it. It never holds one while it
// waits for the other: an agent that waits for a turn can be stopped, and an agent that another command may end takes
// no turn. Errors: [agent.ErrSuperseded].
func (s *Supervisor) lockAgain(ctx context.Context, over *agent.Record) (letGo func(), err error) {
	for {
		if _, err := s.leftAs(over); err != nil {
			return nil, err
		}
		release, err := s.Project.Store.Turns().Await(ctx, s.Project.Machine.Halted, func() {})
		if err != nil {
			return nil, err
		}
		unlock, err := s.Project.Store.LockVerb(over.Handle, "restart", s.Project.Seconds())
		if err == nil {
			return func() { release(); unlock() }, nil
		}
		release()
		if fail.KindOf(err) != fail.Conflict {
			return nil, err
		}
		select {
		case <-time.After(verbAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// leftAs loads the record of an agent that still waits for its next start: no other start has followed the last one,
// and no command has cancelled the next one. Errors: [agent.ErrSuperseded].
func (s *Supervisor) leftAs(over *agent.Record) (agent.Record, error) {
	r, err := s.Project.Store.Load(over.Handle)
	switch {
	case fail.KindOf(err) == fail.NotFound:
		return r, agent.ErrSuperseded // it was dismissed
	case err != nil:
		return r, err
	case !observe.SameStart(r.Process, over.Process) || !r.AwaitsStart():
		return r, agent.ErrSuperseded
	}
	return r, nil
}

// readyAgain ends what the last start has left running and claims the next, unless the project was paused while the
// launcher waited for its turn. It sends the first prompt of the conversation again only if the conversation is
// empty. Errors: [agent.ErrSuperseded]; [launcher.ErrPaused].
func (s *Supervisor) readyAgain(ctx context.Context, over *agent.Record, last store.Launch) (next launcher.Restart, err error) {
	r, err := s.leftAs(over)
	if err != nil {
		return next, err
	}
	if pause, err := s.Project.Store.Watching().Paused(); pause != nil || err != nil {
		return next, launcher.ErrPaused
	}
	if err := teardown.Sweep(ctx, s.Project, &r); err != nil {
		return next, err
	}
	again := Resume{Start: launch.Start{Program: last.Claude, Again: true, InPlace: r.Process.Tmux == nil, Wait: restartWait}}
	p, _, err := s.starter().Restored(ctx, "restart", func() (launch.Plan, error) { return s.planResume(r, again) })
	if err != nil {
		return next, err
	}
	if err := s.Keeper.NoteLoss(ctx, &p.Record, p.Loss); err != nil {
		return next, err
	}
	claimed, err := s.starter().ClaimAgain(ctx, p)
	if err != nil {
		return next, err
	}
	next.Launch = s.starter().LaunchOf(p, &claimed)
	next.Launch.TmuxSocket, next.Launch.Brief = last.TmuxSocket, last.Brief
	next.Prove = func(ctx context.Context) error { return s.proveAgain(ctx, p, claimed) }
	return next, nil
}

// proveAgain waits until a restarted claude is ready, and journals the result. A claude that waits for a person or
// takes long goes on. The error is why claude must not run.
func (s *Supervisor) proveAgain(interrupt context.Context, p launch.Plan, claimed agent.Record) error {
	ctx := context.WithoutCancel(interrupt)
	r, err := s.starter().Prove(ctx, interrupt, p, claimed)
	if _, wrong := errors.AsType[*launch.WrongError](err); wrong {
		return err
	}
	detail := p.Opening.Conversation()
	switch {
	case err != nil:
		detail += "; " + err.Error()
	case p.Opening == cmdline.OpenResume:
		sight := s.Project.LookAt(ctx, r)
		detail += inFolder(sight.WorksIn, s.outOfWorktree(ctx, &sight))
	}
	if !s.Project.Machine.IsGone(r.Process.Identity) { // if it is gone, its end is recorded
		_ = s.Project.Note(ctx, "restart", &r, detail)
	}
	return nil
}
