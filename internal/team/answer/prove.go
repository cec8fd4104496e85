package answer

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/store/requests"
)

// proof follows a request from before its answer until its dialog is gone. Claude calls the hook before it shows the
// dialog, and goes on some time after the hook has taken the answer: on a busy machine, the dialog of a request that is
// answered at once appears after the answer, and stays for seconds.
type proof struct {
	*Answerer

	request *requests.Request
	given   *requests.Answer
	shown   time.Time // since when the dialog is shown; zero: it was not seen yet
	busy    time.Time // when the agent was first seen at work, and not at the dialog yet; zero: it was not seen so
}

// begin begins a proof before the answer is given. The caller has just read the record.
func (a *Answerer) begin(ctx context.Context, receipt *Receipt, r agent.Record) *proof {
	p := &proof{Answerer: a, request: &receipt.Request, given: &receipt.Answer}
	if status := a.project.LookAt(ctx, r).Status; status.State == agent.Waiting {
		p.shown = status.Began
	}
	return p
}

// prove waits until the hook has taken the answer, and then until the dialog is gone.
func (p *proof) prove(ctx context.Context) error {
	if err := p.proveTaken(ctx); err != nil {
		return err
	}
	state := agent.Unknown
	err := clock.Poll(ctx, p.limit, func() (gone bool, err error) {
		gone, state, err = p.isGone(ctx)
		return gone, err
	})
	if fail.KindOf(err) != fail.TimedOut {
		return err
	}
	what := "its dialog is still there"
	if state != agent.Waiting {
		what = "whether its dialog is gone is not known"
	}
	return fail.Errorf(fail.TimedOut, "%w: the agent's hook has taken the answer to %s, and %s after %s", ErrUnproved, p.request.ID, what, p.limit).
		Hint("to see the dialog: nbs-worker screen %s", p.request.Handle)
}

func (p *proof) proveTaken(ctx context.Context) error {
	drawer, id := p.project.Store.Requests(), p.request.ID
	err := clock.Poll(ctx, p.limit, func() (bool, error) {
		fate, taken := drawer.FateOf(id)
		switch fate {
		case requests.Taken:
			if taken.By != p.given.By || !taken.At.Equal(p.given.At) {
				return false, answered(id, taken.By)
			}
			return true, nil
		case requests.Gone:
			return false, fail.Errorf(fail.Failed, "%w: what asked %s ended, and did not note that it took the answer; it may have been answered in the terminal", ErrUnproved, id).
				Hint("to see what the agent does: nbs-worker logs %s", p.request.Handle)
		case requests.Open, requests.Answered:
		}
		return false, nil
	})
	if fail.KindOf(err) == fail.TimedOut {
		return fail.Errorf(fail.TimedOut, "%w: the agent's hook has not taken the answer to %s after %s; it may still do so", ErrUnproved, id, p.limit).
			Hint("to see the dialog: nbs-worker screen %s", p.request.Handle)
	}
	return err
}

// unshown is how long an agent that has taken an answer must be at work until its dialog, which was not seen, is taken
// to be gone. A busy machine shows a dialog within a second.
const unshown = 5 * time.Second

// isGone reports whether the agent is past the dialog. A dialog that came later, or that belongs to another open
// request, is another one.
func (p *proof) isGone(ctx context.Context) (bool, agent.State, error) {
	record, err := p.project.Store.Load(p.request.Handle)
	if fail.KindOf(err) == fail.NotFound {
		return false, agent.Dead, p.ended()
	}
	if err != nil {
		return false, agent.Unknown, err
	}
	status := p.project.LookAt(ctx, record).Status
	switch {
	case status.Down():
		err = p.ended()
	case status.State == agent.Unknown:
	case status.State == agent.Waiting && p.shown.IsZero():
		p.shown = status.Began
	case status.State == agent.Waiting && status.Began.Equal(p.shown):
		others, err := p.openOf(p.request.Handle)
		return len(others) > 0, status.State, err
	case status.State == agent.Busy && p.shown.IsZero() && status.Began.Before(p.given.At):
		if p.busy.IsZero() {
			p.busy = p.project.Now()
		}
		return p.project.Now().Sub(p.busy) >= min(unshown, p.limit), status.State, nil
	default:
		return true, status.State, nil
	}
	return false, status.State, err
}

func (p *proof) ended() error {
	return fail.Errorf(fail.Failed, "%w: the agent's hook has taken the answer to %s, and its claude has ended", ErrUnproved, p.request.ID).
		Hint("to see what it did: nbs-worker logs %s", p.request.Handle)
}
