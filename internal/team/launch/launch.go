// Package launch starts agents: a plan of what will be done, the start itself, and the proof that
// what runs is ready, is what was recorded, and runs alone.
//
//   - Whatever can be checked before a start is checked when it is planned, which changes nothing.
//   - The start is written down before it happens: whatever dies from then on, the record explains
//     what is found.
//   - The caller holds the verb lock, and no claude of the record runs.
//   - It ends nothing: it reports a start that went wrong, and the verb ends it.
package launch

import (
	"context"
	"fmt"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/proc"
	"nbs-worker/internal/store/turns"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/observe"
)

// Starter starts the agents of one project.
type Starter struct{ *keep.Keeper }

// WrongError means that something runs that must not: it is not what was recorded, or not alone on
// its conversation. The caller has to end it.
type WrongError struct{ error }

func (e *WrongError) Unwrap() error { return e.error }

// Start starts the planned agent when it is its turn, waits until it is ready and checks what runs.
// Cancelling interrupt ends the waiting, not the agent.
func (s Starter) Start(ctx, interrupt context.Context, p Plan, wait time.Duration) (agent.Record, error) {
	release, err := s.AwaitTurn(interrupt, p)
	if err != nil {
		return claimedOf(p), err
	}
	defer release()
	p.unawaited = wait == 0
	r, err := s.begin(ctx, p)
	if err != nil {
		return r, err
	}
	return s.Prove(ctx, interrupt, p, r, wait)
}

// AwaitTurn waits until fewer than [turns.AtOnce] agents are being started on this machine.
// Errors: Interrupted.
func (s Starter) AwaitTurn(interrupt context.Context, p Plan) (release func(), err error) {
	release, err = s.Store.Turns().Await(interrupt, proc.Halted, func() {
		if p.progress != nil {
			p.progress(fmt.Sprintf("waiting for its turn: %s at a time on this machine", human.Count(turns.AtOnce(), "start")))
		}
	})
	if err != nil {
		return nil, fail.Errorf(fail.Interrupted, "interrupted while it waited for its turn; claude was not started").
			Hint("nbs-worker session %s", p.Record.Handle)
	}
	return release, nil
}

// claimedOf is the record that was written already for the start of a plan; zero for none.
func claimedOf(p Plan) agent.Record {
	if p.Claimed == nil {
		return agent.Record{}
	}
	return *p.Claimed
}

// Prove waits until a start that was begun is ready, and checks what runs. wait 0: only until it runs.
func (s Starter) Prove(ctx, interrupt context.Context, p Plan, r agent.Record, wait time.Duration) (agent.Record, error) {
	prompt := s.Store.Outbox(r.Handle)
	if p.Prompt != "" { // where a hook refuses it, Claude leaves it in its box: what cannot be noted is then a draft
		_ = prompt.KeepLeft(prompt.Left(r.Process.Invocation).Typed(p.Prompt, s.Seconds()))
	}
	r, err := s.await(ctx, interrupt, p, r, wait)
	if err != nil {
		return r, err
	}
	if p.Prompt != "" && wait != 0 {
		_ = prompt.ForgetLeft()
	}
	if err := s.verify(ctx, r, p.new && !p.takesUp); err != nil {
		return r, err
	}
	if r, err = s.noteStart(ctx, p, r); err != nil || wait == 0 || p.again {
		return r, err
	}
	if exit := r.ExitOf(r.Process.Invocation); exit != nil { // its launcher has left it to this verb to say so
		return r, s.left(ctx, &r, exit)
	}
	return r, nil
}

// noteStart completes the record of an agent that runs.
func (s Starter) noteStart(ctx context.Context, p Plan, r agent.Record) (agent.Record, error) {
	noted, err := s.Store.Update(ctx, r.Handle, func(now *agent.Record) error {
		observe.NoteTranscript(now, p.config, s.Seconds())
		if !p.again { // while the record is locked: the launcher decides what follows an end that the record does not show yet
			s.Store.LeaveToLauncher(now.Handle)
		}
		if live, err := s.Registered(now); err == nil {
			now.ClaudeVersion = live.Version
		}
		if observe.SameStart(now.Process, r.Process) {
			now.Process.Ready = r.Process.Ready
		}
		return nil
	})
	observe.Wake(&r) // the launcher opens the registry entry, which exists by now
	if err != nil {
		return r, RunsUnnoted(&r, "the last update of its record", err)
	}
	return noted, nil
}

// UnnotedError means that an agent runs, but that something of its start could not be written down.
type UnnotedError struct{ error }

func (e *UnnotedError) Unwrap() error { return e.error }

// RunsUnnoted is the error for an agent that runs although something of its start could not be written
// down. It drops the hints of the cause: they are for repeating the command, which would be refused.
func RunsUnnoted(r *agent.Record, what string, cause error) error {
	if proc.IsGone(r.Process.Identity) {
		return cause
	}
	return &UnnotedError{fail.Errorf(fail.KindOf(cause), "the agent runs, pid %d, but %s failed: %s", r.PID, what, cause.Error()).
		Hint("it needs no second start; look at it: nbs-worker session %s", r.Handle).
		Hint("what keeps .nbs from being written: nbs-worker doctor")}
}
