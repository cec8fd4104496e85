package answer

import (
	"context"
	"errors"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/store/requests"
)

// Answer answers one request of an agent, and returns when that is proved. Without an id, it answers the only open
// one. Errors: NotFound if nothing is asked; BadInput if several requests are open, or if what is said does not fit
// the request; Conflict with ErrOver or ErrAnswered, when nothing was done; Held for an agent without the right;
// TimedOut and Failed, with ErrUnproved and a receipt of what
// was said, if the answer was given and what became of it is not known.
func (a *Answerer) Answer(ctx context.Context, handle agent.Handle, id string, say Say) (Receipt, error) {
	r, err := a.Pick(ctx, handle, id)
	if err != nil {
		return Receipt{}, err
	}
	given, err := a.answerTo(&r, &say)
	if err != nil {
		return Receipt{}, err
	}
	receipt := Receipt{Request: r, Answer: given}
	if len(given.Rules) > 0 {
		receipt.Rules = Describe(r).Always
	}
	before, err := a.project.Store.Load(r.Handle)
	if err != nil {
		return Receipt{}, err
	}
	if err := a.give(&r, given); err != nil {
		return Receipt{}, err
	}
	a.project.Store.Requests().Sweep(a.project.Now())
	noted := a.project.Note(context.WithoutCancel(ctx), "answered", &before, receipt.journaled())
	if err := a.prove(ctx, &receipt); err != nil {
		return receipt, errors.Join(err, noted)
	}
	return receipt, noted
}

// give hands an answer over.
func (a *Answerer) give(r *requests.Request, given requests.Answer) error {
	drawer := a.project.Store.Requests()
	err := drawer.Give(r.ID, given)
	switch fail.KindOf(err) {
	case fail.NotFound:
		return over(r.ID)
	case fail.Conflict:
		_, earlier := drawer.FateOf(r.ID)
		return answered(r.ID, earlier.By)
	}
	return err
}

// prove waits until the hook has taken the answer, and then until the dialog is gone.
func (a *Answerer) prove(ctx context.Context, receipt *Receipt) error {
	r := &receipt.Request
	drawer := a.project.Store.Requests()
	err := clock.Poll(ctx, a.limit, func() (bool, error) {
		fate, taken := drawer.FateOf(r.ID)
		switch fate {
		case requests.Taken:
			if taken.By != receipt.Answer.By || !taken.At.Equal(receipt.Answer.At) {
				return false, answered(r.ID, taken.By)
			}
			return true, nil
		case requests.Gone:
			return false, fail.Errorf(fail.Failed, "%w: what asked %s ended, and did not note that it took the answer; it may have been answered in the terminal", ErrUnproved, r.ID).
				Hint("to see what the agent does: nbs-worker logs %s", r.Handle)
		case requests.Open, requests.Answered:
		}
		return false, nil
	})
	if fail.KindOf(err) == fail.TimedOut {
		return fail.Errorf(fail.TimedOut, "%w: the agent's hook has not taken the answer to %s after %s; it may still do so", ErrUnproved, r.ID, a.limit).
			Hint("to see the dialog: nbs-worker screen %s", r.Handle)
	}
	if err != nil {
		return err
	}
	return a.proveGone(ctx, r, receipt.Answer.At)
}

// proveGone waits until an agent no longer waits at the dialog of a request. A dialog that came after the answer, or
// that belongs to another open request, is another one.
func (a *Answerer) proveGone(ctx context.Context, r *requests.Request, at time.Time) error {
	err := clock.Poll(ctx, a.limit, func() (bool, error) {
		record, err := a.project.Store.Load(r.Handle)
		if fail.KindOf(err) == fail.NotFound {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		sight := a.project.LookAt(ctx, record)
		if state := sight.Status.State; state != agent.Waiting {
			return state != agent.Unknown, nil
		}
		if sight.Status.Age != nil && a.project.Now().Add(-*sight.Status.Age).After(at) {
			return true, nil
		}
		others, err := a.openOf(r.Handle)
		return len(others) > 0, err
	})
	if fail.KindOf(err) == fail.TimedOut {
		return fail.Errorf(fail.TimedOut, "%w: the agent's hook has taken the answer to %s, and its dialog is still there after %s", ErrUnproved, r.ID, a.limit).
			Hint("to see the dialog: nbs-worker screen %s", r.Handle)
	}
	return err
}

// journaled returns what the journal says of an answer: also the rules, which outlast the request.
func (r *Receipt) journaled() string {
	words := r.Words()
	if len(r.Rules) > 0 {
		words += ", and from now on " + human.And(r.Rules)
	}
	return r.Request.Tool + " (" + r.Request.ID + "): " + words + "; by " + r.Answer.By
}

// Words returns what was answered, in one line: "allowed", "denied", "answered".
func (r *Receipt) Words() string { return Words(&r.Answer) }
