package observer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nbs-worker/internal/claude/past"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/store/journal"
)

// observe sends the finished turns of a conversation to its observer, and takes one announcement for each: a hook is
// called before claude has written its turn. It takes all announcements if the transcript has grown since and no turn
// is open: then nothing more will come. unfinished reports whether something will. A failure of an observer is not an
// error: it is recorded, and the turn is tried again later.
func (w *Worker) observe(ctx context.Context, t target) (unfinished bool, err error) {
	if on, err := w.isOnStill(t); err != nil || !on {
		delete(w.owed, t.id)
		return false, err
	}
	read, grown, err := w.observeTurns(ctx, t)
	if err != nil || w.owed[t.id] {
		return false, err
	}
	old := w.Project.Now().Sub(t.newest()) > hopeless
	taken := min(len(read.Turns), len(t.announced))
	if old || grown && !read.Rest {
		taken = len(t.announced)
	}
	return taken < len(t.announced), w.Project.Store.Spool().Take(t.announced[:taken]...)
}

// observeTurns sends the finished turns to the observer, and returns them. grown reports whether the transcript has
// grown since they were announced.
func (w *Worker) observeTurns(ctx context.Context, t target) (read past.Past, grown bool, err error) {
	file, found, err := w.transcript(t)
	if err != nil || !found {
		return read, false, err
	}
	known, err := w.Memory.Observed(ctx, t.id)
	if err != nil && fail.KindOf(err) != fail.NotFound {
		return read, false, err
	}
	grown = file.Size > t.size()
	o, look := w.observerOf(t), seen{file.Size, file.Modified, known.ReadTo, t.left()}
	if look == o.seen { // a long transcript is not read again for nothing
		return past.Past{Rest: o.rests}, grown, nil
	}
	read, err = past.Behind(file, known.ReadTo, t.left())
	if err != nil || len(read.Turns) == 0 {
		if err == nil {
			o.seen, o.rests = look, read.Rest
		}
		return read, grown, err
	}
	err = w.Memory.Create(ctx, memory.Observed{
		ContentID: t.id, Handle: t.record.Handle, FirstPrompt: firstPrompt(read.First), Created: w.Project.Now().UTC(),
	})
	if err != nil {
		return read, grown, err
	}
	if read.Lost && o.lost != known.ReadTo {
		o.lost = known.ReadTo
		w.journal(ctx, t, "memory-again", fmt.Sprintf("%s is observed from its beginning again, so some of it may be noted twice: the last observed record, %s, is no longer in its transcript",
			t.id, known.ReadTo))
	}
	w.owed[t.id] = true
	for i := range read.Turns {
		if on, err := w.isOnStill(t); err != nil || !on {
			delete(w.owed, t.id)
			return read, grown, err
		}
		if !read.Turns[i].Worked() {
			err = w.Memory.Advance(ctx, t.id, read.Turns[i].Last)
		} else {
			err = w.observeTurn(ctx, t, &read.Turns[i])
		}
		if err != nil {
			return read, grown, w.note(ctx, t, err)
		}
	}
	delete(w.owed, t.id)
	return read, grown, nil
}

// observeTurn sends a turn to the observer, and stores its answer. Errors: *laterError.
func (w *Worker) observeTurn(ctx context.Context, t target, of *past.Turn) error {
	if err := w.checkBudget(ctx); err != nil {
		return err
	}
	o := w.observerOf(t)
	answer, err := o.show(ctx, of)
	if _, unfit := errors.AsType[*unfitError](err); unfit {
		w.done.Skipped++
		w.journal(ctx, t, "memory-skipped", fmt.Sprintf("turn %d of %s was not observed: %s", of.Number, t.id, err))
		return w.Memory.Advance(ctx, t.id, of.Last)
	}
	if err != nil {
		return err
	}
	for i := range answer {
		answer[i].ContentID, answer[i].Handle, answer[i].MemoryID = t.id, t.record.Handle, o.id
		answer[i].Turn, answer[i].At = of.Number, w.Project.Now().UTC()
	}
	n, err := w.Memory.Store(ctx, t.id, of.Number, answer, of.Last)
	if err != nil {
		return err
	}
	w.done.Turns++
	w.done.Observations += n
	o.rest, w.rest = pause{}, pause{}
	return nil
}

// laterError is the reason to show a turn to its observer again later.
type laterError struct {
	pause

	all bool // it keeps all observers from their work
}

func (e *laterError) Error() string { return e.why }

// unfitError is the reason to pass a turn over.
type unfitError struct{ why string }

func (e *unfitError) Error() string { return e.why }

// note records for people why a turn is shown later, a *laterError. It returns every other error.
func (w *Worker) note(ctx context.Context, t target, err error) error {
	later, is := errors.AsType[*laterError](err)
	if !is {
		return err
	}
	o := w.observerOf(t)
	if later.all {
		later.failures = w.rest.failures + 1
		w.rest = later.pause
	} else {
		later.failures = o.rest.failures + 1
		o.rest = later.pause
	}
	w.waits(t, later.pause)
	w.Said("memory of %s: %s; it is tried again at %s", t.record.Handle.Name(), later.why, later.until.UTC().Format(time.RFC3339))
	return w.Memory.Trouble(ctx, t.id, later.why)
}

const day = "2006-01-02"

// checkBudget returns an error if the day's tokens are spent. Errors: *laterError.
func (w *Worker) checkBudget(ctx context.Context) error {
	now := w.Project.Now().UTC()
	spent, err := w.Memory.Spend(ctx, now.Format(day), 0)
	if err != nil || spent < w.TokensPerDay {
		return err
	}
	return &laterError{all: true, pause: pause{
		until: now.Truncate(24 * time.Hour).Add(24 * time.Hour),
		why:   fmt.Sprintf("the limit of %d tokens a day is reached (%d were used); observing continues at midnight UTC", w.TokensPerDay, spent),
	}}
}

// spend adds the tokens of a turn.
func (w *Worker) spend(ctx context.Context, o *turn.Outcome) error {
	tokens := o.Usage.Input + o.Usage.Output + o.Usage.CacheRead + o.Usage.CacheCreation
	w.done.Tokens += tokens
	_, err := w.Memory.Spend(ctx, w.Project.Now().UTC().Format(day), tokens)
	return err
}

// journal records in the journal what happened to the memory of an agent. If that fails, it reports both.
func (w *Worker) journal(ctx context.Context, t target, event, detail string) {
	if err := w.Project.Store.Journal().Append(ctx, journal.EventOf(&t.record, w.Project.Seconds(), event, detail)); err != nil {
		w.Said("memory of %s: %s; the journal: %s", t.record.Handle.Name(), detail, err)
	}
}
