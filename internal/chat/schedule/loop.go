package schedule

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"
)

// Memory keeps how far the entries came. There is one writer.
type Memory interface {
	Recall() (map[string]Last, error)
	Remember(entries map[string]Last) error // durable when it returns
}

// Runner runs a turn or sends a message, and returns when that is over. A run whose ID it was given
// before is not run again. A run that the context ended is not over.
type Runner interface {
	Run(ctx context.Context, due Due) error
}

// Conversations are those that may be reset.
type Conversations interface {
	// Talks are the conversations that have a past and no open turn.
	Talks() ([]Talk, error)
	// Reset resets a conversation, unless a turn was asked for meanwhile. It does not wait; the next
	// answer states the reason. done reports whether the conversation was reset.
	Reset(ctx context.Context, reset Reset) (done bool, err error)
}

// Word is what was done.
type Word string

// What a loop reports.
const (
	Began    Word = "began"
	Over     Word = "over"
	Failed   Word = "failed" // also of a reset, and of what could not be written down
	Skip     Word = "skipped"
	Waits    Word = "waits"
	WasReset Word = "reset"
)

// Deed is something that a loop did, or could not do.
type Deed struct {
	At           time.Time
	Word         Word
	Name         string    // of the entry, or the key of a conversation
	ScheduledFor time.Time // zero: of no run
	Detail       string
}

// Loop runs what is due, when it is.
type Loop struct {
	File          *File
	Memory        Memory
	Runner        Runner
	Conversations Conversations // nil: none is reset
	Say           func(Deed)    // nil: nobody is told

	// Set by tests; nil: the clock of the machine.
	Now   func() time.Time
	Alarm func(ctx context.Context, at time.Time) (<-chan struct{}, error)

	deaf  bool // the last alarm could not be set, which has been told
	lasts map[string]Last
	over  chan ending
	runs  sync.WaitGroup
}

// ending is a run that is over.
type ending struct {
	due Due
	err error
}

// retry is the pause before what could not be written down, or an alarm that could not be set, is tried again; it is
// shorter than [grace].
const retry = 10 * time.Second

// Run runs what is due until the context ends, and returns its error. Another error is that the memory cannot
// be read. Runs that are not over then are handed over again by the next call.
func (l *Loop) Run(ctx context.Context) error {
	if l.Now == nil {
		l.Now, l.Alarm = time.Now, wallAlarm
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

// step hands over what is due, and returns when to look again.
func (l *Loop) step(ctx context.Context) (next time.Time) {
	agenda := plan(l.File, l.lasts, l.Now())
	if agenda.Changed && !l.remember(agenda.Lasts) {
		return l.Now().Add(retry) // nothing runs that a crash would make run twice
	}
	for _, skipped := range agenda.Skipped {
		l.say(Skip, skipped.Name, skipped.ScheduledFor, skipped.Why)
	}
	for _, due := range agenda.Due {
		l.begin(ctx, due)
	}
	return agenda.Next
}

// remember writes down how far the entries came.
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

// begin hands over a run.
func (l *Loop) begin(ctx context.Context, due Due) {
	detail := ""
	if due.Again {
		detail = "it was begun before; how far it came was not known"
	}
	l.say(Began, due.Entry.Name, due.ScheduledFor, detail)
	l.runs.Go(func() {
		err := l.Runner.Run(ctx, due)
		if ctx.Err() != nil {
			return // it may not be over
		}
		select {
		case l.over <- ending{due, err}:
		case <-ctx.Done():
		}
	})
}

// wait waits for a time, or for the end of a run.
func (l *Loop) wait(ctx context.Context, until time.Time) error {
	asleep, wake := context.WithCancel(ctx)
	defer wake()
	rings, err := l.Alarm(asleep, until)
	var again <-chan time.Time
	if err != nil { // no reason to cut off what runs
		if !l.deaf {
			l.say(Failed, "", time.Time{}, "set the alarm: "+err.Error())
		}
		again = time.After(retry)
	}
	l.deaf = err != nil
	select {
	case <-rings:
	case <-again:
	case run := <-l.over:
		l.end(run)
	case <-ctx.Done():
	}
	return ctx.Err()
}

// end notes that a run is over. If that cannot be written down, the next process hands it over
// again, and the [Runner] recognizes its id.
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
		l.Say(Deed{At: l.Now(), Word: word, Name: name, ScheduledFor: at, Detail: detail})
	}
}
