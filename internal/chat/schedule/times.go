package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a container may have no zone files

	"github.com/robfig/cron/v3"
)

// Times are the moments at which an entry is to run.
//
// A cron expression gives times of a clock on the wall, each of which stands for one moment: a time
// that daylight saving leaves out is the first moment after the gap, a time that is shown twice is the
// first of the two. So two times may be one moment, which is one run. The times of an interval are
// counted from the beginning of the calendar, not from a start, so that all processes agree on them.
type Times struct {
	wall  cron.Schedule  // nil: an interval
	zone  *time.Location // of the wall
	every time.Duration

	words string
}

// String describes the times in words; other times have other words.
func (t Times) String() string { return t.words }

var errNever = errors.New("there is no such day, so it would never run")

// cronTimes are those of an expression in a zone.
func cronTimes(expression string, zone *time.Location) (Times, error) {
	switch {
	case strings.Contains(expression, "TZ="):
		return Times{}, errors.New("the zone has a field of its own: zone: Europe/Berlin")
	case strings.HasPrefix(expression, "@every"):
		return Times{}, errors.New("an interval has a field of its own: every: 15m")
	}
	wall, err := cron.ParseStandard(expression)
	if err != nil {
		return Times{}, fmt.Errorf("%w; it must be minute, hour, day, month and weekday (0 to 6, 0 is Sunday), such as \"30 7 * * 1-5\"", err)
	}
	// The years of the calendar differ in leap days only, and the next one is within five years of this date.
	if wall.Next(time.Date(2000, time.March, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Times{}, errNever
	}
	return Times{wall: wall, zone: zone, words: expression + " " + zone.String()}, nil
}

// everyTimes are those of an interval of whole seconds.
func everyTimes(every time.Duration) Times {
	return Times{every: every, words: "every " + every.String()}
}

// Next is the first of the times after a moment; zero for none.
func (t Times) Next(after time.Time) time.Time {
	if t.wall == nil {
		return after.UTC().Truncate(t.every).Add(t.every)
	}
	// The parser has rules of its own for daylight saving. It is asked in UTC, which has none.
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

// Latest is the last of the times after one moment and up to another; zero for none.
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
	// Looked for backwards in growing steps: there may be a year of minutes between the two.
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

// onWall is what a clock on the wall shows at a moment, written as a time in UTC.
func onWall(at time.Time) time.Time {
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
}

// moment is the first moment at which the clocks of a zone show a time or, where they leave it out,
// a later one.
func moment(wall time.Time, zone *time.Location) time.Time {
	const ahead = 26 * time.Hour // no zone is as far ahead of UTC
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
