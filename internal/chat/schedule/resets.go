package schedule

import (
	"strings"
	"time"
)

// Resets configures when conversations are reset automatically.
type Resets struct {
	Daily *Times        // nil: never
	Clock string        // the time of day of Daily, "04:00"
	Zone  string        // of Clock
	Idle  time.Duration // reset after this time without a turn; 0: never
	Keys  []string      // the conversations; "telegram:*": all with this prefix; empty: all
}

// Talk is a conversation that has a past.
type Talk struct {
	Key  string
	Last time.Time // when its last turn was requested
}

// Reset is a conversation that is due for a reset.
type Reset struct {
	Key    string
	Reason string    // in words, for the next answer
	Before time.Time // a turn requested then or later prevents the reset
}

// Due returns the conversations that are due for a reset, and when to look again; zero: never. A conversation that was
// used since the daily reset time continues until the next one.
func (r Resets) Due(talks []Talk, now time.Time) (due []Reset, next time.Time) {
	now = now.UTC()
	var daily time.Time
	if r.Daily != nil {
		const sure = 72 * time.Hour // long enough to contain a reset, even where a zone skips a day
		daily, next = r.Daily.Latest(now.Add(-sure), now), r.Daily.Next(now)
	}
	if r.Idle > 0 {
		next = sooner(next, now.Add(r.Idle)) // for conversations that begin before then
	}
	for _, talk := range talks {
		switch {
		case !r.covers(talk.Key):
		case talk.Last.Before(daily):
			due = append(due, Reset{talk.Key, "the daily reset at " + r.Clock + " (" + r.Zone + ")", daily})
		case r.Idle == 0:
		case talk.Last.Add(r.Idle).After(now):
			next = sooner(next, talk.Last.Add(r.Idle))
		default:
			due = append(due, Reset{talk.Key, "nothing was said for " + r.Idle.String(), now.Add(-r.Idle).Add(1)})
		}
	}
	return due, next
}

// None reports whether no conversation is ever reset.
func (r Resets) None() bool { return r.Daily == nil && r.Idle == 0 }

// covers reports whether a conversation is ever reset. Conversations of schedules have no past, so none is a [Talk].
func (r Resets) covers(key string) bool {
	for _, pattern := range r.Keys {
		if begin, all := strings.CutSuffix(pattern, "*"); pattern == key || all && strings.HasPrefix(key, begin) {
			return true
		}
	}
	return len(r.Keys) == 0
}

// sooner returns the earlier of two times; a zero time does not count.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
