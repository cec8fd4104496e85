package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a container may have no zone files

	"github.com/robfig/cron/v3"
)

// Times are the moments at which an entry runs.
//
// A cron expression gives wall clock times. Each is one moment. A time that daylight saving skips is the first
// moment after the gap. A time that occurs twice is the first of the two. So two times may be one moment, which is one
// run. Interval times are counted from the start of the calendar, so that all processes agree on them.
type Times struct {
	wall  cron.Schedule  // nil: an interval
	zone  *time.Location // of the wall clock
	every time.Duration

	words string
}

// String describes the times in words. Different times have different words.
func (t Times) String() string { return t.words }

var errNever = errors.New("there is no such day, so it would never run")

// cronTimes returns the times of a cron expression in a zone.
func cronTimes(expression string, zone *time.Location) (Times, error) {
	switch {
	case strings.Contains(expression, "TZ="):
		return Times{}, errors.New("set the time zone in its own field: zone: Europe/Berlin")
	case strings.HasPrefix(expression, "@every"):
		return Times{}, errors.New("set an interval in its own field: every: 15m")
	}
	wall, err := cron.ParseStandard(expression)
	if err != nil {
		return Times{}, fmt.Errorf("%w; it must be minute, hour, day, month and weekday (0 to 6, 0 is Sunday), such as \"30 7 * * 1-5\"", err)
	}
	// The years of the calendar differ only in leap days, and the next leap day is within five years of this date.
	if wall.Next(time.Date(2000, time.March, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Times{}, errNever
	}
	return Times{wall: wall, zone: zone, words: expression + " " + zone.String()}, nil
}

// everyTimes returns the times of an interval in whole seconds.
func everyTimes(every time.Duration) Times {
	return Times{every: every, words: "every " + every.String()}
}

// In returns a moment on the clock of the times: an interval has that of this machine.
func (t Times) In(at time.Time) time.Time {
	if t.zone == nil {
		return at.In(time.Local)
	}
	return at.In(t.zone)
}

// Local formats a moment for the clock of this machine. It names the zone if the clock of the times shows another hour.
func (t Times) Local(at time.Time) string {
	at = at.Local()
	_, here := at.Zone()
	if _, there := t.In(at).Zone(); there != here {
		return at.Format(time.DateTime + " MST")
	}
	return at.Format(time.DateTime)
}

// Next returns the first of the times after a moment; zero if no time follows.
func (t Times) Next(after time.Time) time.Time {
	if t.wall == nil {
		return after.UTC().Truncate(t.every).Add(t.every)
	}
	// The parser has its own rules for daylight saving. It gets UTC, which has no daylight saving.
	for wall := onWall(after.In(t.zone)); ; {
		wall = t.wall.Next(wall)
		if wall.IsZero() {
			return time.Time{}
		}
		if at := moment(wall, t.zone); at.After(after) {
			return at.UTC()
		}
	}
}

// Latest returns the last of the times after one moment and up to another; zero if no time is in that range.
func (t Times) Latest(after, upTo time.Time) (latest time.Time) {
	if t.wall == nil {
		if at := upTo.UTC().Truncate(t.every); at.After(after) {
			return at
		}
		return time.Time{}
	}
	if next := t.Next(after); next.IsZero() || next.After(upTo) {
		return time.Time{}
	}
	// Search backwards in growing steps: the range may contain a year of minutes.
	from := upTo.Add(-time.Minute)
	for back := time.Minute; from.After(after) && t.Next(from).After(upTo); back *= 2 {
		from = upTo.Add(-back)
	}
	if from.Before(after) {
		from = after
	}
	for at := t.Next(from); !at.IsZero() && !at.After(upTo); at = t.Next(at) {
		latest = at
	}
	return latest
}

// onWall returns the wall clock time at a moment, written as a time in UTC.
func onWall(at time.Time) time.Time {
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
}

// moment returns the first moment at which a zone's clocks show a time. If they skip it, it returns the end of the gap.
func moment(wall time.Time, zone *time.Location) time.Time {
	const ahead = 26 * time.Hour // no zone is that far ahead of UTC
	for at := wall.Add(-ahead).In(zone); ; {
		_, offset := at.Zone()
		begin, end := at.ZoneBounds()
		shown := wall.Add(-time.Duration(offset) * time.Second)
		switch {
		case !begin.IsZero() && shown.Before(begin):
			return begin
		case end.IsZero() || shown.Before(end):
			return shown
		}
		at = end
	}
}
