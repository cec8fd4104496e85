package schedule

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"
)

// Memory stores how far each entry got. It has one writer.
type Memory interface {
	Recall() (map[string]Last, error)
	Remember(entries map[string]Last) error // durable when it returns
}

// Runner runs a turn or sends a message, and returns when that is done. It does not repeat a run whose ID it has seen.
// A run that the context ended is not done.
type Runner interface {
	Run(ctx context.Context, due Due) error
}

// Conversations lists and resets conversations.
type Conversations interface {
	// Talks returns the conversations that have a past and no open turn.
	Talks() ([]Talk, error)
	// Reset resets a conversation, unless a turn was requested in it by then. It does not wait; the next answer states
	// the reason. done reports whether the conversation was reset.
	Reset(ctx context.Context, reset Reset) (done bool, err error)
}

// Word names what a loop did.
type Word string

// The words of a loop's reports.
const (
	Began    Word = "began"
	Over     Word = "over"
	Failed   Word = "failed" // also for a reset, and for a failed write
	Skip     Word = "skipped"
	Waits    Word = "waits"
	WasReset Word = "reset"
)

// Action is something that a loop did or failed to do.
type Action struct {
	At           time.Time
	Word         Word
	Name         string    // of the entry, or the key of a conversation
	ScheduledFor time.Time // zero: no run
	Detail       string
}

// Loop runs entries when they are due.
type Loop struct {
	File          *File
	Memory        Memory
	Runner        Runner
	Conversations Conversations // nil: no conversation is reset
	Say           func(Action)  // nil: reports are dropped

	Now func() time.Time // nil: the machine's clock

	lasts map[string]Last
	over  chan ending
	runs  sync.WaitGroup
}

// ending is a finished run.
type ending struct {
	due Due
	err error
}

const (
	retry = 10 * time.Second // the pause before a failed write is repeated; shorter than [grace]
	// lookEvery is how late a loop may notice that the clock was set, or that the machine was suspended: a Go timer
	// measures a duration, and stands still with the machine. It is shorter than [grace].
	lookEvery = time.Minute
)

// Run runs what is due until the context ends, and returns the context's error, or an error of reading the memory. The
// next call starts the unfinished runs again.
func (l *Loop) Run(ctx context.Context) error {
	if l.Now == nil {
		l.Now = time.Now
	}
	var err error
	if l.lasts, err = l.Memory.Recall(); err != nil {
		return err
	}
	l.over = make(chan ending)
	runs, cancel := context.WithCancel(ctx)
	defer l.runs.Wait()
	defer cancel()
	for _, due := range unfinished(l.File, l.lasts) {
		l.begin(runs, due)
	}
	for {
		next := sooner(l.step(runs), l.reset(ctx))
		if err := l.wait(ctx, next); err != nil {
			return err
		}
	}
}

// step starts what is due, and returns when to look again.
func (l *Loop) step(ctx context.Context) (next time.Time) {
	agenda := plan(l.File, l.lasts, l.Now())
	if agenda.Changed && !l.remember(agenda.Lasts) {
		return l.Now().Add(retry) // nothing is started that a crash would repeat
	}
	for _, skipped := range agenda.Skipped {
		l.say(Skip, skipped.Name, skipped.ScheduledFor, skipped.Why)
	}
	for _, due := range agenda.Due {
		l.begin(ctx, due)
	}
	return agenda.Next
}

// remember records how far the entries got.
func (l *Loop) remember(lasts map[string]Last) bool {
	if err := l.Memory.Remember(lasts); err != nil {
		l.say(Failed, "", time.Time{}, err.Error())
		return false
	}
	for name, last := range lasts {
		if was := l.lasts[name]; !last.Waiting.IsZero() && was.Waiting.IsZero() {
			l.say(Waits, name, last.Waiting, "the last run is not over")
		}
	}
	l.lasts = lasts
	return true
}

// begin starts a run.
func (l *Loop) begin(ctx context.Context, due Due) {
	detail := ""
	if due.Again {
		detail = "it was begun before; how far it came was not known"
	}
	l.say(Began, due.Entry.Name, due.ScheduledFor, detail)
	l.runs.Go(func() {
		err := l.Runner.Run(ctx, due)
		if ctx.Err() != nil {
			return // the run may be unfinished
		}
		select {
		case l.over <- ending{due, err}:
		case <-ctx.Done():
		}
	})
}

// wait waits until a time by the wall clock, until a run ends, or until the clock was set back.
func (l *Loop) wait(ctx context.Context, until time.Time) error {
	for now := l.Now().Round(0); ; {
		var rings <-chan time.Time
		if !until.IsZero() {
			rings = time.After(min(until.Sub(now), lookEvery))
		}
		select {
		case <-rings:
		case run := <-l.over:
			l.end(run)
			return ctx.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
		before := now
		if now = l.Now().Round(0); now.Before(before) || !now.Before(until) {
			return ctx.Err()
		}
	}
}

// end records that a run is over. If the write fails, the next process starts the run again, and the [Runner]
// recognizes its ID.
func (l *Loop) end(run ending) {
	name, at := run.due.Entry.Name, run.due.ScheduledFor
	if last := l.lasts[name]; last.ScheduledFor.Equal(at) {
		last.Done = true
		lasts := maps.Clone(l.lasts)
		lasts[name] = last
		if !l.remember(lasts) {
			l.lasts = lasts
		}
	}
	if run.err != nil {
		l.say(Failed, name, at, run.err.Error())
		return
	}
	l.say(Over, name, at, "")
}

// reset resets the conversations that are due, and returns when to look again.
func (l *Loop) reset(ctx context.Context) (next time.Time) {
	if l.Conversations == nil || l.File.Resets.None() {
		return time.Time{}
	}
	talks, err := l.Conversations.Talks()
	if err != nil {
		l.say(Failed, "", time.Time{}, fmt.Sprintf("look for conversations to reset: %v", err))
		return l.Now().Add(time.Minute)
	}
	due, next := l.File.Resets.Due(talks, l.Now())
	for _, reset := range due {
		done, err := l.Conversations.Reset(ctx, reset)
		if err != nil {
			l.say(Failed, reset.Key, time.Time{}, fmt.Sprintf("reset: %v", err))
			next = sooner(next, l.Now().Add(time.Minute))
			continue
		}
		if done {
			l.say(WasReset, reset.Key, time.Time{}, reset.Reason)
		}
	}
	return next
}

func (l *Loop) say(word Word, name string, at time.Time, detail string) {
	if l.Say != nil {
		l.Say(Action{At: l.Now(), Word: word, Name: name, ScheduledFor: at, Detail: detail})
	}
}
