package headless

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
)

const dyingRetry = 20 * time.Millisecond

// claim takes the lease on the conversation and the lock on its transcript, and checks that no other claude has it
// open. Errors: Conflict.
func (l *Launch) claim(ctx context.Context, o *observe.Project) (release func(), err error) {
	if l.Verb == "" {
		return func() {}, nil
	}
	id := l.Record.SessionID
	endLease, err := patiently(ctx, l.Dying, func() (func(), error) {
		return o.Store.AcquireLease(id, store.Holder{PID: os.Getpid(), Verb: l.Verb, Since: o.Seconds()})
	})
	if err != nil || l.Spec.Opening == cmdline.OpenNew {
		return endLease, err
	}
	letGo, err := patiently(ctx, l.Dying, func() (func(), error) {
		config, err := o.ConfigOf(l.Record)
		if err != nil {
			return nil, err
		}
		letGo, _, err := config.Hold(id)
		return letGo, err
	})
	if err != nil {
		endLease()
		return nil, err
	}
	release = func() { letGo(); endLease() }
	if err := l.checkAlone(ctx, o); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// patiently retries take while it returns Conflict, for at most grace. Errors: those of take, and of the context.
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

// checkAlone checks that no other claude has the conversation open. A claude of a turn that still runs is waited for,
// and then ended if it is ours: its runner was killed, because the lease is free. Errors: Conflict.
func (l *Launch) checkAlone(ctx context.Context, o *observe.Project) error {
	strangers, err := patiently(ctx, l.Dying, func() ([]observe.Stranger, error) {
		found, err := o.Strangers(l.Record)
		if err == nil && slices.ContainsFunc(found, func(s observe.Stranger) bool { return isOfATurn(o.Machine, s) }) {
			err = o.ErrStranger(l.Record, found)
		}
		return found, err
	})
	if fail.KindOf(err) == fail.Conflict {
		if err = l.endHung(ctx, o, strangers); err == nil {
			strangers, err = o.Strangers(l.Record)
		}
	}
	if err != nil {
		return err
	}
	return o.ErrStranger(l.Record, strangers)
}

// endHung ends our claudes among the strangers. Claudes that another project started are left alone.
func (l *Launch) endHung(ctx context.Context, o *observe.Project, strangers []observe.Stranger) (err error) {
	for _, s := range strangers {
		if of, is := lineage.TurnOf(o.Machine, s.PID); is && l.IsOurs != nil && l.IsOurs(of.Invocation) {
			err = errors.Join(err, EndLeft(ctx, o, of.Invocation))
		}
	}
	return err
}

// isOfATurn reports whether a claude was started for turns, or is exiting, which makes its environment unreadable.
func isOfATurn(m *machine.Machine, s observe.Stranger) bool {
	_, is := lineage.TurnOf(m, s.PID)
	_, err := m.Cwd(s.PID)
	return is || err != nil
}
