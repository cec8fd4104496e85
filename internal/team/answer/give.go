package answer

import (
	"context"
	"errors"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/requests"
)

// Answer answers one request of an agent, and returns when that is proved. Without an id, it answers the only open
// one. Errors: NotFound if nothing is asked; BadInput if several requests are open, or if what is said does not fit
// the request; Conflict with ErrOver or ErrAnswered, when nothing was done; Held for an agent without the right;
// TimedOut and Failed, with ErrUnproved and a receipt of what was said, if the answer was given and what became of it
// is not known.
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
	p := a.begin(ctx, &receipt, before)
	if err := a.give(&r, given); err != nil {
		return Receipt{}, err
	}
	a.project.Store.Requests().Sweep(a.project.Now())
	noted := a.project.Note(context.WithoutCancel(ctx), "answered", &before, receipt.journaled())
	if err := p.prove(ctx); err != nil {
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
