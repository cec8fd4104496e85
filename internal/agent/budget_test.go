package agent

import (
	"testing"
	"time"

	"nbs-worker/internal/fail"
)

// A budget is read as it is typed, and kept in one form.
func TestParseBudget(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Budget{"5/day": "5.00/day", "$0.5/hour": "0.50/hour", "12.345/week": "12.35/week", "off": ""} {
		if got, err := ParseBudget(text); err != nil || got != want || got.validate() != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "5", "5/month", "0/day", "-1/day", "x/day", "/day", "NaN/day", "Inf/day", "1e9/day", "0.001/day", "5/day/day", "5 /day "} {
		if got, err := ParseBudget(text); fail.KindOf(err) != fail.BadInput {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if Budget("5/day").validate() == nil || Budget("off").validate() == nil {
		t.Error("a budget of another form than ours is valid")
	}
}

// A period is one of the user's clock, also where that changes during it, or is no whole hours from UTC.
func TestPeriodOfABudget(t *testing.T) {
	t.Parallel()
	nepal := time.FixedZone("Nepal", 5*3600+45*60)
	now := time.Date(2026, 3, 4, 10, 20, 30, 40, nepal) // a Wednesday
	for budget, want := range map[Budget][2]time.Time{
		"1.00/hour": {time.Date(2026, 3, 4, 10, 0, 0, 0, nepal), time.Date(2026, 3, 4, 11, 0, 0, 0, nepal)},
		"1.00/day":  {time.Date(2026, 3, 4, 0, 0, 0, 0, nepal), time.Date(2026, 3, 5, 0, 0, 0, 0, nepal)},
		"1.00/week": {time.Date(2026, 3, 2, 0, 0, 0, 0, nepal), time.Date(2026, 3, 9, 0, 0, 0, 0, nepal)},
	} {
		if began, ends := budget.Period(now); !began.Equal(want[0]) || !ends.Equal(want[1]) {
			t.Errorf("%s: %s to %s", budget, began, ends)
		}
	}
	sunday := time.Date(2026, 3, 8, 23, 59, 0, 0, nepal)
	if began, _ := Budget("1.00/week").Period(sunday); began.Day() != 2 {
		t.Errorf("of a Sunday: %s", began)
	}
}

// The agent is held once its budget is spent, and not without one.
func TestSpendingIsOver(t *testing.T) {
	t.Parallel()
	var none *Spending
	for usd, want := range map[float64]bool{0: false, 4.99: false, 5: true, 6: true} {
		if s := (&Spending{Budget: "5.00/day", USD: usd}); s.Over() != want {
			t.Errorf("%v: %v", usd, s.Over())
		}
	}
	if none.Over() {
		t.Error("without a budget it is held")
	}
	s := Spending{Budget: "5.00/day", USD: 5.123, Ends: time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)}
	if got := s.Why(); got != "its budget is spent, $5.12 of $5.00 a day; the next day begins at 00:00" {
		t.Error(got)
	}
}
