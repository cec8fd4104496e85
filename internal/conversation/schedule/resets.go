package schedule

import (
	"strings"
	"time"
)

// Resets are when conversations begin anew by themselves.
type Resets struct {
	Daily *Times        // nil: never
	Clock string        // the time of day of that, "04:00"
	Zone  string        // of that
	Idle  time.Duration // for so long nobody said anything; 0: never
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
	Before time.Time // a turn that was asked for then, or later, keeps it
}

// Due are those of the conversations that are to begin anew, and when to look again; zero: never.
// One in which something was said since the time of the daily reset goes on until the next.
func (r Resets) Due(talks []Talk, now time.Time) (due []Reset, next time.Time) {
	now = now.UTC()
	var daily time.Time
	if r.Daily != nil {
		const sure = 72 * time.Hour // to hold one, also where daylight saving leaves out a day
		daily, next = r.Daily.Latest(now.Add(-sure), now), r.Daily.Next(now)
	}
	if r.Idle > 0 {
		next = sooner(next, now.Add(r.Idle)) // of conversations that are not begun yet
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

// None tells whether no conversation is ever reset.
func (r Resets) None() bool { return r.Daily == nil && r.Idle == 0 }

// covers tells whether a conversation is to be reset. Those of the schedules have no past.
func (r Resets) covers(key string) bool {
	for _, pattern := range r.Keys {
		if begin, all := strings.CutSuffix(pattern, "*"); pattern == key || all && strings.HasPrefix(key, begin) {
			return true
		}
	}
	return len(r.Keys) == 0
}

// sooner is the first of two times, of which a zero one is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
