package conversation

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/proc"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// claim takes the lease on a conversation and the lock on its transcript, and checks that no other claude has it open.
func (j *job) claim(ctx context.Context, id agent.SessionID, opening claude.Opening) (release func(), err error) {
	if j.ask.Isolated { // minted for this attempt, and opened by nobody else: a lease would leave a file each time
		return func() {}, nil
	}
	endLease, err := patiently(ctx, j.dying, func() (func(), error) {
		return j.Store.AcquireLease(id, store.Holder{PID: os.Getpid(), Verb: "ask", Since: j.Seconds()})
	})
	if err != nil {
		return nil, err
	}
	if opening == claude.OpenNew {
		return endLease, nil
	}
	config, err := j.config()
	if err != nil {
		endLease()
		return nil, err
	}
	letGo, err := patiently(ctx, j.dying, func() (func(), error) {
		letGo, _, err := config.Hold(id)
		return letGo, err
	})
	if err != nil {
		endLease()
		return nil, err
	}
	release = func() { letGo(); endLease() }
	if err := j.checkAlone(ctx, id); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// The locks of a killed runner are released one after the other, the right to run turns first; and its claude, which
// gets no more input, exits by itself.
const (
	dyingGrace = 5 * time.Second
	dyingRetry = 20 * time.Millisecond
)

// patiently retries take while it returns Conflict, for as long as a dying runner may hold what it takes: for grace.
// Errors: those of take, and of the context.
func patiently[T any](ctx context.Context, grace time.Duration, take func() (T, error)) (got T, err error) {
	for begun := time.Now(); ; {
		got, err = take()
		if fail.KindOf(err) != fail.Conflict || time.Since(begun) > grace {
			return got, err
		}
		if err := clock.Sleep(ctx, dyingRetry); err != nil {
			return got, err
		}
	}
}

// checkAlone checks that no other claude has the conversation open. A claude that was started for a turn is waited
// for, and then ended: the lease is free, so its runner was killed. Errors: Conflict.
func (j *job) checkAlone(ctx context.Context, id agent.SessionID) error {
	r := j.record(id, true)
	var strangers []observe.Stranger
	_, err := patiently(ctx, j.dying, func() (_ struct{}, err error) {
		if strangers, err = j.Strangers(r); err == nil && slices.ContainsFunc(strangers, isOfATurn) {
			err = j.ErrStranger(r, strangers)
		}
		return struct{}{}, err
	})
	if fail.KindOf(err) == fail.Conflict {
		if err = j.endHung(ctx, strangers); err == nil {
			strangers, err = j.Strangers(r)
		}
	}
	if err != nil {
		return err
	}
	return j.ErrStranger(r, strangers)
}

// endHung ends the claudes of this conversation's turns that do not exit: the lease is free, so their runner is gone.
// A claude that another project started is not touched.
func (j *job) endHung(ctx context.Context, strangers []observe.Stranger) error {
	lines, err := j.c.Journal()
	if err != nil {
		return err
	}
	for _, line := range lines {
		if line.Start != nil && slices.ContainsFunc(strangers, func(s observe.Stranger) bool {
			of, _ := proc.Variable(s.PID, agent.TurnVariable)
			return of == string(line.Start.Invocation)
		}) {
			err = errors.Join(err, j.endLeftovers(ctx, j.state.Meta.Key, *line.Start))
		}
	}
	return err
}

// isOfATurn reports whether a claude was started for turns, or is just exiting: then its environment cannot be read.
func isOfATurn(s observe.Stranger) bool {
	_, is := proc.Variable(s.PID, agent.TurnVariable)
	_, err := proc.Cwd(s.PID)
	return is || err != nil
}
