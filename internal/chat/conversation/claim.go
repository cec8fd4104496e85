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
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// claim takes the lease on a conversation and the lock on its transcript, and checks that no other claude has it open.
func (j *job) claim(ctx context.Context, id agent.SessionID, opening claude.Opening) (release func(), err error) {
	if j.ask.Isolated { // the session ID is new and used only here: a lease would leave a file each time
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

// A killed runner's locks are released one after the other, the turn lock first. Its claude gets no more input and
// exits by itself.
const (
	dyingGrace = 5 * time.Second
	dyingRetry = 20 * time.Millisecond
)

// patiently retries take while it returns Conflict, for at most grace: a dying runner may still hold the lock.
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

// checkAlone checks that no other claude has the conversation open. If a turn's claude still runs, its runner was
// killed, because the lease is free: checkAlone waits for that claude, then ends it. Errors: Conflict.
func (j *job) checkAlone(ctx context.Context, id agent.SessionID) error {
	r := j.record(id, true)
	var strangers []observe.Stranger
	_, err := patiently(ctx, j.dying, func() (_ struct{}, err error) {
		if strangers, err = j.Strangers(r); err == nil && slices.ContainsFunc(strangers, j.isOfATurn) {
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

// endHung ends the claudes of this conversation's turns that do not exit. Their runner is gone, because the lease is
// free. Claudes that another project started are left alone.
func (j *job) endHung(ctx context.Context, strangers []observe.Stranger) error {
	lines, err := j.c.Journal()
	if err != nil {
		return err
	}
	for _, line := range lines {
		if line.Start != nil && slices.ContainsFunc(strangers, func(s observe.Stranger) bool {
			of, _ := j.Machine.Variable(s.PID, agent.TurnVariable)
			return of == string(line.Start.Invocation)
		}) {
			err = errors.Join(err, j.endLeftovers(ctx, j.state.Meta.Key, *line.Start))
		}
	}
	return err
}

// isOfATurn reports whether a claude was started for turns, or is exiting, which makes its environment unreadable.
func (j *job) isOfATurn(s observe.Stranger) bool {
	_, is := j.Machine.Variable(s.PID, agent.TurnVariable)
	_, err := j.Machine.Cwd(s.PID)
	return is || err != nil
}
