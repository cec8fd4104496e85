package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"nbs-worker/internal/sim/rig"
)

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	rig.Must(t, err)
	return zone
}

func timesOf(t testing.TB, expression, zone string) Times {
	t.Helper()
	times, err := cronTimes(expression, location(t, zone))
	rig.Must(t, err)
	return times
}

// clocks are what the clocks of a zone show in each quarter of an hour of a year and of two days around it, and
// when they show it first; rising.
type clocks struct {
	from, to  time.Time // the year
	shown, at []time.Time
}

func clocksOf(t testing.TB, zone string, year int) (c clocks) {
	t.Helper()
	c.from, c.to = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC)
	const step = 15 * time.Minute // each of the expressions, and each change of the clocks, is at one
	there, latest := location(t, zone), time.Time{}
	for minute := c.from.Add(-48 * time.Hour); minute.Before(c.to.Add(48 * time.Hour)); minute = minute.Add(step) {
		if now := onWall(minute.In(there)); now.After(latest) {
			c.shown, c.at, latest = append(c.shown, now), append(c.at, minute), now
		}
	}
	return c
}

// lookedUp are the times of an expression in the year: each time of the wall at its first moment or,
// where it is never shown, at the first moment of a later one.
func (c clocks) lookedUp(t testing.TB, expression string) (moments []time.Time) {
	t.Helper()
	wall, err := cron.ParseStandard(expression)
	rig.Must(t, err)
	i := 0
	for w := wall.Next(c.shown[0]); ; w = wall.Next(w) {
		for i < len(c.shown) && c.shown[i].Before(w) {
			i++
		}
		if i == len(c.shown) {
			return slices.Compact(moments)
		}
		if !c.at[i].Before(c.from) && c.at[i].Before(c.to) {
			moments = append(moments, c.at[i])
		}
	}
}

// between are the times after one moment and before another.
func between(times Times, from, to time.Time) (all []time.Time) {
	for at := times.Next(from.Add(-1)); at.Before(to); at = times.Next(at) {
		all = append(all, at)
	}
	return all
}

// Over a year, in zones with daylight saving of each kind, each time of the wall is one moment.
func TestTimesOfAYear(t *testing.T) {
	t.Parallel()
	for zone, year := range map[string]int{
		"UTC": 2026, "Europe/Berlin": 2026, "America/New_York": 2026, "America/Los_Angeles": 2026,
		"Australia/Lord_Howe": 2026, // by half an hour
		"America/Sao_Paulo":   2018, // at midnight
		"Pacific/Apia":        2011, // without the 30th of December
		"Africa/Casablanca":   2026, "Asia/Kolkata": 2026,
	} {
		clocks := clocksOf(t, zone, year)
		for _, expression := range []string{"30 2 * * *", "30 1 * * *", "0 0 * * *", "*/15 0-3 * * *", "15,45 0-3 * * 0", "0 12 1 * *", "@hourly"} {
			want := clocks.lookedUp(t, expression)
			got := between(timesOf(t, expression, zone), clocks.from, clocks.to)
			rig.Check(t, slices.EqualFunc(got, want, time.Time.Equal), "%s %s: %d times; want %d, first difference: %v", expression, zone, len(got), len(want), firstDifference(got, want))
		}
	}
}

func firstDifference(got, want []time.Time) []time.Time {
	for i := range min(len(got), len(want)) {
		if !got[i].Equal(want[i]) {
			return []time.Time{got[i], want[i]}
		}
	}
	return nil
}

func TestTimesWhereTheClockIsSet(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		expression, zone, day string
		want                  string // on that day and the next, in the zone
	}{
		"left out":    {"30 2 * * *", "America/Los_Angeles", "2026-03-08", "2026-03-08T03:00:00-07:00 2026-03-09T02:30:00-07:00"},
		"twice":       {"30 1 * * *", "America/Los_Angeles", "2026-11-01", "2026-11-01T01:30:00-07:00 2026-11-02T01:30:00-08:00"},
		"no midnight": {"0 0 * * *", "America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00 2018-11-05T00:00:00-02:00"},
	} {
		zone := location(t, c.zone)
		from, err := time.ParseInLocation(time.DateOnly, c.day, zone)
		rig.Must(t, err)
		var got []string
		for _, at := range between(timesOf(t, c.expression, c.zone), from, from.Add(47*time.Hour)) {
			got = append(got, at.In(zone).Format(time.RFC3339))
		}
		rig.Equal(t, strings.Join(got, " "), c.want, "%s", what)
	}
}

// Whoever asks, and since whenever they ran, intervals have the same times.
func TestTimesOfAnInterval(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration]string{15 * time.Minute: "11:45:00", time.Hour: "12:00:00", 90 * time.Second: "11:45:00", 24 * time.Hour: "00:00:00"} {
		for _, second := range []int{8, 9, 50} {
			at := everyTimes(every).Next(time.Date(2026, 2, 20, 11, 44, second, 5, location(t, "Europe/Berlin"))).In(location(t, "Europe/Berlin"))
			if every == 24*time.Hour {
				at = at.UTC()
			}
			rig.Equal(t, at.Format(time.TimeOnly), want, "every %s", every)
		}
	}
}

// The latest of many times that passed is found without looking at each.
func TestLatestTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 11, 44, 7, 0, time.UTC)
	for _, expression := range []string{"* * * * *", "*/15 * * * *", "30 7 * * 1-5", "* * 1 * *", "0 12 29 2 *", "30 2 8 3 *"} {
		times := timesOf(t, expression, "America/Los_Angeles")
		for _, back := range []time.Duration{time.Second, time.Minute, 23 * time.Hour, 40 * 24 * time.Hour, 3 * 365 * 24 * time.Hour} {
			var want time.Time
			if back < 1000*time.Hour || !strings.HasPrefix(expression, "*") {
				for at := times.Next(now.Add(-back)); !at.After(now); at = times.Next(at) {
					want = at
				}
				got := times.Latest(now.Add(-back), now)
				rig.Check(t, got.Equal(want), "%s, %s back: %s; want %s", expression, back, got, want)
			} else if got := times.Latest(now.Add(-back), now); now.Sub(got) > 20*24*time.Hour {
				t.Errorf("%s, %s back: %s", expression, back, got)
			}
		}
	}
	interval := everyTimes(7 * time.Hour)
	at := interval.Next(now)
	rig.Check(t, interval.Latest(now, at.Add(-1)).IsZero() && interval.Latest(now, at).Equal(at) && interval.Latest(at, at).IsZero(), "around %s", at)
}
