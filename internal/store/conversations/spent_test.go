package conversations

import (
	"testing"
	"time"
)

// A limit for a day counts the day of the person's own time zone.
func TestCostOfADayIsThatOfTheTimeZone(t *testing.T) {
	t.Parallel()
	kathmandu := time.FixedZone("+0545", (5*60+45)*60)
	midnight := time.Date(2026, 11, 26, 0, 0, 0, 0, kathmandu)
	var s State
	s.spend(midnight.Add(-time.Minute), new(1.0))
	s.spend(midnight, new(0.25))
	s.spend(midnight.Add(14*time.Minute), new(0.25))
	s.spend(midnight.Add(9*time.Hour), nil)
	s.spend(midnight.Add(23*time.Hour), new(2.0))
	if today := s.SpentSince(midnight); today != 2.5 || s.TotalUSD != 3.5 {
		t.Errorf("today %v, in all %v; want 2.5 and 3.5", today, s.TotalUSD)
	}
	s.spend(midnight.Add(10*24*time.Hour), new(4.0))
	if len(s.Spent) != 1 || s.TotalUSD != 7.5 {
		t.Errorf("kept %v, in all %v; want only the last two days, and 7.5", s.Spent, s.TotalUSD)
	}
}

// What Claude says by itself costs money, but is not the last answer.
func TestCostOfTheLastAnswer(t *testing.T) {
	t.Parallel()
	var s State
	for _, line := range []Line{
		{What: Enqueued, Seq: 1, ID: "a"},
		{What: Done, Seq: 1, CostUSD: new(2.0)},
		{What: Added, Unasked: &Unasked{Turn: "a", Text: "By the way.", Cost: new(0.5)}},
	} {
		if err := s.apply(&line); err != nil {
			t.Fatal(err)
		}
	}
	if s.LastUSD != 2 || s.TotalUSD != 2.5 {
		t.Errorf("the last answer %v, in all %v; want 2 and 2.5", s.LastUSD, s.TotalUSD)
	}
}

// A name belongs to a session of the conversation, also after a reset, and goes with "".
func TestNamesOfSessions(t *testing.T) {
	t.Parallel()
	var s State
	apply := func(line Line) {
		t.Helper()
		if err := s.apply(&line); err != nil {
			t.Fatal(err)
		}
	}
	apply(Line{What: Adopted, Session: third})
	apply(Line{What: Named, Session: third, Name: "Holiday"})
	apply(Line{What: WasReset, Previous: third})
	if s.Names[third] != "Holiday" {
		t.Errorf("names %v: a reset must not forget the name", s.Names)
	}
	apply(Line{What: Named, Session: third})
	if len(s.Names) != 0 {
		t.Errorf("names %v: want none", s.Names)
	}
}
