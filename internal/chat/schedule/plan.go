package schedule

import (
	"maps"
	"time"
)

// Agenda is what to do now.
type Agenda struct {
	Due     []Due
	Skipped []Skipped
	Lasts   map[string]Last // to record before any run is started
	Changed bool            // Lasts differ from those before
	Next    time.Time       // when to plan again, unless a run ends first; zero: no such time
}

// Skipped is a time whose run is skipped.
type Skipped struct {
	Name         string
	ScheduledFor time.Time
	Why          string
}

// largestSetback is how far the clock may be set back while past runs at times of the wall clock still count as done.
// If a recorded time is further ahead, the clock was wrong when it was recorded: waiting for that time would stop the
// entry.
const largestSetback = 24 * time.Hour

// setBack returns how far an entry is at a moment, although the clock may have been set back since its last run. An
// interval then counts from that moment on: it does not run twice within an interval, and waits for at most two. What
// runs at a time that has run before is another run, with another ID.
func setBack(times Times, last Last, now time.Time) Last {
	from := now
	if times.wall == nil {
		from = now.Add(times.every - 1).Truncate(times.every)
	} else if !last.Passed.After(now.Add(largestSetback)) {
		return last
	}
	if last.Passed.After(from) {
		last.Passed = from
		last.Back++
	}
	return last
}

// plan decides what to do now, from how far the entries got. An entry that is new, or whose times have changed, counts
// from now on.
func plan(file *File, lasts map[string]Last, now time.Time) Agenda {
	now = now.UTC().Round(0) // by the wall clock, which may be set
	agenda := Agenda{Lasts: make(map[string]Last, len(file.Entries))}
	for _, e := range file.Entries {
		last, known := lasts[e.Name]
		if !known || last.When != e.Times.String() {
			last.When, last.Passed, last.Waiting = e.Times.String(), now, time.Time{}
		}
		last = setBack(e.Times, last, now)
		agenda.Lasts[e.Name] = agenda.plan(e, last, now)
	}
	agenda.Changed = !maps.Equal(agenda.Lasts, lasts)
	return agenda
}

// plan adds the due runs of an entry, and returns how far the entry then is.
func (a *Agenda) plan(e *Entry, last Last, now time.Time) Last {
	run := func(at time.Time) {
		last.ScheduledFor, last.StartedAt, last.Done = at, now, false
		last.Skipped, last.SkippedTo = 0, time.Time{}
		a.Due = append(a.Due, Due{Entry: e, ScheduledFor: at})
	}
	if !last.Waiting.IsZero() && !last.Running() {
		at := last.Waiting
		last.Waiting = time.Time{}
		run(at)
	}
	next := e.Times.Next(last.Passed)
	if next.IsZero() || next.After(now) {
		a.Next = sooner(a.Next, next)
		return last
	}
	at := e.Times.Latest(last.Passed, now)
	last.Passed = at
	a.Next = sooner(a.Next, e.Times.Next(at))
	at = at.Add(time.Duration(last.Back))
	leaveOut := func(why string) {
		a.skip(e, at, why)
		last.Skipped, last.SkippedTo = last.Skipped+1, at
	}
	switch {
	case e.Missed == MissedSkip && now.Sub(at) > grace:
		a.skip(e, at, "it was missed")
	case !last.Running():
		run(at)
	case e.Overlap == OverlapSkip:
		leaveOut("the last run is not over")
	case last.Waiting.IsZero():
		last.Waiting = at
	default:
		leaveOut("another run waits already")
	}
	return last
}

func (a *Agenda) skip(e *Entry, at time.Time, why string) {
	a.Skipped = append(a.Skipped, Skipped{Name: e.Name, ScheduledFor: at, Why: why})
}

// unfinished returns the runs that were started and whose end is unknown.
func unfinished(file *File, lasts map[string]Last) (due []Due) {
	for _, e := range file.Entries {
		if last := lasts[e.Name]; last.Running() {
			due = append(due, Due{Entry: e, ScheduledFor: last.ScheduledFor, Again: true})
		}
	}
	return due
}

// Coming is a time at which an entry will run.
type Coming struct {
	Entry *Entry
	At    time.Time // in UTC
}

// Upcoming returns the next times of all entries, in order of time, at most count.
func Upcoming(file *File, lasts map[string]Last, now time.Time, count int) []Coming {
	next, backs := make([]time.Time, len(file.Entries)), make([]time.Duration, len(file.Entries))
	for i, e := range file.Entries {
		last, from := lasts[e.Name], now
		if last.When == e.Times.String() {
			last = setBack(e.Times, last, now.UTC().Round(0))
			if last.Passed.After(now) {
				from = last.Passed
			}
		}
		next[i], backs[i] = e.Times.Next(from), time.Duration(last.Back)
	}
	var all []Coming
	for len(all) < count {
		first := -1
		for i, at := range next {
			if !at.IsZero() && (first < 0 || at.Before(next[first])) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		e := file.Entries[first]
		all = append(all, Coming{Entry: e, At: next[first].Add(backs[first])})
		next[first] = e.Times.Next(next[first])
	}
	return all
}
