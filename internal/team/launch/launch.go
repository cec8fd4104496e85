// Package launch starts agents. It makes a plan, does the start, and proves that what runs is ready, is what was
// recorded, and runs alone.
//
//   - Everything that can be checked before a start is checked during planning, which changes nothing.
//   - The start is recorded before it happens. If a process is killed after that, the record explains what is found.
//   - The caller holds the verb lock, and no claude of the record runs.
//   - The package ends nothing: it reports a failed start, and the verb ends it.
package launch

import (
	"context"
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store/turns"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/observe"
)

// Starter starts the agents of one project.
type Starter struct {
	Project *observe.Project
	Keeper  *keep.Keeper
}

// WrongError means that a claude runs that must not: it is not what was recorded, or another claude has its
// conversation open. The caller must end it.
type WrongError struct{ error }

func (e *WrongError) Unwrap() error { return e.error }

// Start waits for its turn, starts the planned agent, waits until it is ready and checks what runs. Cancelling
// interrupt ends the waiting, not the agent.
func (s Starter) Start(ctx, interrupt context.Context, p Plan) (agent.Record, error) {
	release, err := s.AwaitTurn(interrupt, p)
	if err != nil {
		return claimedOf(p), err
	}
	defer release()
	r, err := s.begin(ctx, p)
	if err != nil {
		return r, err
	}
	return s.Prove(ctx, interrupt, p, r)
}

// AwaitTurn waits until fewer than [turns.AtOnce] agents are being started on this machine.
// Errors: Interrupted.
func (s Starter) AwaitTurn(interrupt context.Context, p Plan) (release func(), err error) {
	release, err = s.Project.Store.Turns().Await(interrupt, s.Project.Machine.Halted, func() {
		if p.Progress != nil {
			p.Progress(fmt.Sprintf("waiting for other starts: at most %s at a time on this machine", human.Count(turns.AtOnce(), "start")))
		}
	})
	if err != nil {
		return nil, fail.Errorf(fail.Interrupted, "interrupted while waiting for other starts; claude was not started").
			Hint("nbs-worker session %s", p.Record.Handle)
	}
	return release, nil
}

// claimedOf returns the record that was already written for the start of a plan; zero if none was written.
func claimedOf(p Plan) agent.Record {
	if p.Claimed == nil {
		return agent.Record{}
	}
	return *p.Claimed
}

// Prove waits until a begun start is ready, and checks what runs.
func (s Starter) Prove(ctx, interrupt context.Context, p Plan, r agent.Record) (agent.Record, error) {
	prompt := s.Project.Store.Outbox(r.Handle)
	if p.Prompt != "" { // if a hook refuses it, Claude leaves it in its box; if unrecorded, it counts as a draft there
		_ = prompt.KeepLeft(prompt.Left(r.Process.Invocation).Typed(p.Prompt, s.Project.Seconds()))
	}
	r, err := s.await(ctx, interrupt, p, r)
	if err != nil {
		return r, err
	}
	if p.Prompt != "" && p.Wait != 0 {
		_ = prompt.ForgetLeft()
	}
	if err := s.verify(ctx, r, p.Minted); err != nil {
		return r, err
	}
	if r, err = s.noteStart(ctx, p, r); err != nil || p.Wait == 0 || p.Again {
		return r, err
	}
	if exit := r.ExitOf(r.Process.Invocation); exit != nil { // its launcher left the report to this verb
		return r, left(exit)
	}
	return r, nil
}

// noteStart completes the record of a running agent.
func (s Starter) noteStart(ctx context.Context, p Plan, r agent.Record) (agent.Record, error) {
	noted, err := s.Project.Store.Update(ctx, r.Handle, func(now *agent.Record) error {
		observe.NoteTranscript(now, p.config, s.Project.Seconds())
		if !p.Again { // under the lock: the launcher decides what follows an end that is not recorded yet
			s.Project.Store.LeaveToLauncher(now.Handle)
		}
		if live, err := s.Project.Registered(now); err == nil {
			now.ClaudeVersion = live.Version
		}
		if observe.SameStart(now.Process, r.Process) {
			now.Process.Ready = r.Process.Ready
		}
		return nil
	})
	observe.Wake(s.Project.Machine, &r) // the launcher opens the registry entry, which exists now
	if err != nil {
		return r, RunsUnnoted(s.Project.Machine, &r, "the last update of its record", err)
	}
	return noted, nil
}

// UnnotedError means that an agent runs, but part of its start could not be recorded.
type UnnotedError struct{ error }

func (e *UnnotedError) Unwrap() error { return e.error }

// RunsUnnoted returns the error for an agent that runs although part of its start could not be recorded. It drops the
// hints of the cause: they suggest to repeat the command, which would be refused.
func RunsUnnoted(m *machine.Machine, r *agent.Record, what string, cause error) error {
	if m.IsGone(r.Process.Identity) {
		return cause
	}
	return &UnnotedError{fail.Errorf(fail.KindOf(cause), "the agent runs, pid %d, but %s failed: %s", r.PID, what, cause.Error()).
		Hint("do not start it again; look at it: nbs-worker session %s", r.Handle).
		Hint("to see why .nbs cannot be written: nbs-worker doctor")}
}
