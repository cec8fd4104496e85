package schedule

import (
	"strings"
	"time"
)

// Resets say when conversations are reset without being asked.
type Resets struct {
	Daily *Times        // nil: never
	Clock string        // the time of day of Daily, "04:00"
	Zone  string        // of Clock
	Idle  time.Duration // after so long without a turn; 0: never
	Keys  []string      // of which conversations, "telegram:*" for all that begin so; none: of all
}

// Talk is a conversation that has a past.
type Talk struct {
	Key  string
	Last time.Time // when its last turn was asked for
}

// Reset is a conversation that is to begin anew.
type Reset struct {
	Key    string
	Reason string    // in words, for whoever is answered next
	Before time.Time // a turn that was asked for then, or later, prevents the reset
}

// Due returns which of the conversations are to be reset, and when to look again; zero: never.
// A conversation that was used since the time of the daily reset goes on until the next one.
func (r Resets) Due(talks []Talk, now time.Time) (due []Reset, next time.Time) {
	now = now.UTC()
	var daily time.Time
	if r.Daily != nil {
		const sure = 72 * time.Hour // to contain a reset, also where a zone leaves out a day
		daily, next = r.Daily.Latest(now.Add(-sure), now), r.Daily.Next(now)
	}
	if r.Idle > 0 {
		next = sooner(next, now.Add(r.Idle)) // for conversations that begin meanwhile
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

// covers reports whether a conversation is reset at all. Those of schedules have no past, so none is a [Talk].
func (r Resets) covers(key string) bool {
	for _, pattern := range r.Keys {
		if begin, all := strings.CutSuffix(pattern, "*"); pattern == key || all && strings.HasPrefix(key, begin) {
			return true
		}
	}
	return len(r.Keys) == 0
}

// sooner is the earlier of two times; a zero time does not count.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
