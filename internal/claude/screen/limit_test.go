package screen

import (
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

func TestUsageLimit(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	rig.Must(t, err)
	now := time.Date(2026, 2, 20, 12, 30, 0, 0, time.UTC)
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 2, day, hour, minute, 0, 0, time.UTC) }
	for text, want := range map[string]struct {
		limited bool
		until   time.Time
	}{
		"You've hit your session limit \u00b7 resets 3:30pm (UTC)":                  {true, at(20, 15, 30)},
		"You've hit your limit \u00b7 resets 3am":                                   {true, at(21, 3, 0)},
		"Claude usage limit reached. Your limit will reset at 3pm (Europe/Berlin).": {true, time.Date(2026, 2, 20, 15, 0, 0, 0, berlin)},
		"5-hour limit reached \u2219 resets 12pm":                                   {true, time.Time{}}, // half an hour ago
		"5-hour limit reached \u2219 resets 15:00":                                  {true, at(20, 15, 0)},
		"You've reached your weekly limit":                                          {true, time.Time{}},
		"You've hit your limit \u00b7 resets 99pm":                                  {true, time.Time{}},
		"Context limit reached \u00b7 /compact or /clear to continue":               {false, time.Time{}},
		"429 rate limited \u00b7 retrying in 4s":                                    {false, time.Time{}},
		"it resets at 3pm":                                                          {false, time.Time{}},
	} {
		limited, until := UsageLimit(text, now)
		rig.Check(t, limited == want.limited && until.Equal(want.until), "%s: %v, %s; want %v, %s", text, limited, until, want.limited, want.until)
	}
}
