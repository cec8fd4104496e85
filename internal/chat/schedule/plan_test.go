package schedule

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// noon is when the tests of plans begin; entry is one that runs at each full hour.
var noon = time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)

func entry(missed Missed, overlap Overlap) *File {
	return &File{Entries: []*Entry{{Name: "a", Times: everyTimes(time.Hour), Missed: missed, Overlap: overlap}}}
}

// told is an agenda in words.
func told(a Agenda) string {
	var words strings.Builder
	for _, due := range a.Due {
		words.WriteString("run " + due.ScheduledFor.Format("15:04") + ", ")
	}
	for _, skipped := range a.Skipped {
		words.WriteString("skip " + skipped.ScheduledFor.Format("15:04") + ": " + skipped.Why + ", ")
	}
	if at := a.Lasts["a"].Waiting; !at.IsZero() {
		words.WriteString("wait " + at.Format("15:04") + ", ")
	}
	return words.String() + "next " + a.Next.Format("15:04")
}

// What is due is by the policies of the entry, and counts once.
func TestPlan(t *testing.T) {
	t.Parallel()
	const every = "every 1h0m0s"
	idle := Last{When: every, Passed: noon, ScheduledFor: noon, StartedAt: noon, Done: true}
	running, waiting, changed, ahead := idle, idle, idle, idle
	running.Done = false
	waiting.Done, waiting.Waiting, waiting.Passed = false, noon.Add(time.Hour), noon.Add(time.Hour)
	changed.When = "every 5m0s"
	ahead.Passed = noon.AddDate(1, 0, 0)
	free := waiting
	free.Done = true
	for _, c := range []struct {
		what    string
		missed  Missed
		overlap Overlap
		last    *Last
		after   time.Duration // noon
		want    string
	}{
		{"new", MissedOnce, OverlapSkip, nil, 5 * time.Hour, "next 18:00"},
		{"of other times", MissedOnce, OverlapSkip, &changed, 5*time.Hour + time.Minute, "next 18:00"},
		{"not due", MissedSkip, OverlapSkip, &idle, 59 * time.Minute, "next 13:00"},
		{"due", MissedSkip, OverlapSkip, &idle, time.Hour, "run 13:00, next 14:00"},
		{"a little late", MissedSkip, OverlapSkip, &idle, time.Hour + grace, "run 13:00, next 14:00"},
		{"missed", MissedSkip, OverlapSkip, &idle, time.Hour + 2*grace, "skip 13:00: it was missed, next 14:00"},
		{"missed, made up for", MissedOnce, OverlapSkip, &idle, 90 * time.Minute, "run 13:00, next 14:00"},
		{"many missed", MissedOnce, OverlapSkip, &idle, 50*time.Hour + time.Minute, "run 14:00, next 15:00"},
		{"many missed, and due", MissedSkip, OverlapSkip, &idle, 50 * time.Hour, "run 14:00, next 15:00"},
		{"overlapping", MissedSkip, OverlapSkip, &running, time.Hour, "skip 13:00: the last run is not over, next 14:00"},
		{"overlapping, queued", MissedSkip, OverlapQueue, &running, time.Hour, "wait 13:00, next 14:00"},
		{"one waits already", MissedSkip, OverlapQueue, &waiting, 2 * time.Hour, "skip 14:00: another run waits already, wait 13:00, next 15:00"},
		{"the last is over", MissedSkip, OverlapQueue, &free, 95 * time.Minute, "run 13:00, next 14:00"},
		{"over when the next is due", MissedSkip, OverlapQueue, &free, 2 * time.Hour, "run 13:00, wait 14:00, next 15:00"},
		{"clock set back", MissedSkip, OverlapSkip, &idle, -5 * time.Hour, "next 08:00"},
		{"clock set back, a moment after", MissedSkip, OverlapSkip, &idle, -5*time.Hour + time.Second, "next 09:00"},
		{"clock set back by less than an interval", MissedSkip, OverlapSkip, &idle, -time.Minute, "next 13:00"},
		{"clock was far ahead", MissedSkip, OverlapSkip, &ahead, 10 * time.Minute, "next 14:00"},
	} {
		lasts := map[string]Last{"gone": {}}
		if c.last != nil {
			lasts["a"] = *c.last
		}
		file, now := entry(c.missed, c.overlap), noon.Add(c.after)
		agenda := plan(file, lasts, now)
		rig.Equal(t, told(agenda), c.want, "%s", c.what)
		again := plan(file, agenda.Lasts, now)
		rig.Check(t, len(again.Due)+len(again.Skipped) == 0 && !again.Changed && again.Next.Equal(agenda.Next), "%s, planned twice: %s", c.what, told(again))
		rig.Check(t, len(agenda.Lasts) == 1, "%s: what is not in the file is remembered: %v", c.what, agenda.Lasts)
	}
}

// A run that was handed over and not seen to its end is handed over under the same id.
func TestUnfinishedRun(t *testing.T) {
	t.Parallel()
	file := entry(MissedSkip, OverlapSkip)
	agenda := plan(file, map[string]Last{"a": {When: "every 1h0m0s", Passed: noon}}, noon.Add(time.Hour))
	again := unfinished(file, agenda.Lasts)
	rig.Check(t, len(agenda.Due) == 1 && len(again) == 1 && again[0].Again && again[0].ID() == agenda.Due[0].ID(), "%+v, %+v", agenda.Due, again)
	rig.Equal(t, again[0].ID(), "cron:a:2026-02-20T13:00:00Z", "its id")
	last := agenda.Lasts["a"]
	last.Done = true
	rig.Check(t, len(unfinished(file, map[string]Last{"a": last})) == 0, "it is over")
}

// What is left out while a run is not over is counted until the next one is handed over.
func TestWhatARunLeavesOutIsCounted(t *testing.T) {
	t.Parallel()
	for overlap, want := range map[Overlap]int{OverlapSkip: 3, OverlapQueue: 2} {
		file, lasts := entry(MissedSkip, overlap), map[string]Last{"a": {When: "every 1h0m0s", Passed: noon}}
		for hour := range 4 {
			lasts = plan(file, lasts, noon.Add(time.Duration(hour+1)*time.Hour)).Lasts
		}
		last := lasts["a"]
		rig.Check(t, last.Skipped == want && last.SkippedTo.Equal(noon.Add(4*time.Hour)), "%s: %+v", overlap, last)
		last.Done = true
		last = plan(file, map[string]Last{"a": last}, noon.Add(5*time.Hour)).Lasts["a"]
		rig.Check(t, last.Skipped == 0 && last.SkippedTo.IsZero(), "%s, once the next one runs: %+v", overlap, last)
	}
}

func TestUpcoming(t *testing.T) {
	t.Parallel()
	file := mustParse(t, "schedules:\n  a: {every: 30m, prompt: x}\n  b: {cron: 0 13 * * *, prompt: x}\n")
	var got strings.Builder
	for _, coming := range Upcoming(file, map[string]Last{"a": {When: "every 30m0s", Passed: noon.Add(30 * time.Minute)}}, noon, 4) {
		got.WriteString(coming.Entry.Name + " " + coming.At.Format("15:04") + ", ")
	}
	rig.Equal(t, got.String(), "a 12:30, a 13:00, b 13:00, a 13:30, ", "the clock was set back over a's 12:30")
	rig.Check(t, len(Upcoming(&File{}, nil, noon, 4)) == 0, "of an empty file")
}

func TestResets(t *testing.T) {
	t.Parallel()
	file := mustParse(t, "zone: Europe/Berlin\nreset_at: \"04:00\"\nidle_reset: 12h\nkeys: [telegram:*, review]\n")
	four := time.Date(2026, 2, 20, 3, 0, 0, 0, time.UTC) // there
	talks := []Talk{
		{"telegram:1", four.Add(-time.Hour)}, {"telegram:2", four}, {"review", four.Add(-20 * time.Hour)},
		{"reviews", four.Add(-20 * time.Hour)}, {"other", four.Add(-200 * time.Hour)},
	}
	for what, c := range map[string]struct {
		at   time.Time
		want string
	}{
		"before":     {four.Add(-time.Second), "review: nothing was said for 12h0m0s; next 03:00"},
		"then":       {four, "telegram:1: the daily reset at 04:00 (Europe/Berlin); review: the daily reset at 04:00 (Europe/Berlin); next 15:00"},
		"much later": {four.Add(30 * time.Hour), "telegram:1: the daily reset at 04:00 (Europe/Berlin); telegram:2: the daily reset at 04:00 (Europe/Berlin); review: the daily reset at 04:00 (Europe/Berlin); next 21:00"},
		"idle":       {four.Add(12 * time.Hour), "telegram:1: the daily reset at 04:00 (Europe/Berlin); telegram:2: nothing was said for 12h0m0s; review: the daily reset at 04:00 (Europe/Berlin); next 03:00"},
	} {
		due, next := file.Resets.Due(talks, c.at)
		var got strings.Builder
		for _, reset := range due {
			got.WriteString(reset.Key + ": " + reset.Reason + "; ")
			for _, talk := range talks {
				rig.Check(t, talk.Key != reset.Key || talk.Last.Before(reset.Before), "%s: %s was said at %s, not before %s", what, talk.Key, talk.Last, reset.Before)
			}
		}
		rig.Equal(t, got.String()+"next "+next.Format("15:04"), c.want, "%s", what)
	}
	due, next := mustParse(t, "").Resets.Due(talks, four)
	rig.Check(t, len(due) == 0 && next.IsZero(), "without any: %v, %s", due, next)
}
