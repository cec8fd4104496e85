package agent

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Budget is the most that an agent is meant to spend in a period, in US dollars: "5.00/day". "" is no limit.
type Budget string

// BudgetPeriods are the periods of budgets, by the user's clock. A week begins on Monday.
var BudgetPeriods = []string{"hour", "day", "week"}

// NoBudget is the word for no limit.
const NoBudget = "off"

// ParseBudget parses an amount and a period: "5/day", "$0.50/hour"; or "off". Errors: BadInput.
func ParseBudget(text string) (Budget, error) {
	const most = 1e6
	if text == NoBudget {
		return "", nil
	}
	amount, period, _ := strings.Cut(text, "/")
	usd, err := strconv.ParseFloat(strings.TrimPrefix(amount, "$"), 64)
	usd = math.Round(usd*100) / 100 // in cents
	if err != nil || !(usd > 0 && usd <= most) || !slices.Contains(BudgetPeriods, period) {
		return "", fail.Errorf(fail.BadInput, "budget %s is not an amount of US dollars for an hour, a day or a week", human.Quote(text)).
			Hint("for example 5.00/day; no limit: off")
	}
	return Budget(fmt.Sprintf("%.2f/%s", usd, period)), nil
}

// validate checks a budget from disk: only what [ParseBudget] returns is valid.
func (b Budget) validate() error {
	if b == "" {
		return nil
	}
	parsed, err := ParseBudget(string(b))
	if err == nil && parsed != b {
		err = fail.Errorf(fail.BadInput, "budget %s is not written as it should be, %s", human.Quote(string(b)), parsed)
	}
	return err
}

// Word returns the budget as it is typed.
func (b Budget) Word() string {
	if b == "" {
		return NoBudget
	}
	return string(b)
}

// USD returns the amount.
func (b Budget) USD() float64 {
	amount, _, _ := strings.Cut(string(b), "/")
	usd, _ := strconv.ParseFloat(amount, 64)
	return usd
}

// Period returns when the present period began, and when it ends, by the clock of now.
func (b Budget) Period(now time.Time) (began, ends time.Time) {
	year, month, day := now.Date()
	days := 1
	switch _, period, _ := strings.Cut(string(b), "/"); period {
	case "hour": // also where the clock is not a whole number of hours from UTC
		began = now.Add(-time.Duration(now.Minute())*time.Minute - time.Duration(now.Second())*time.Second - time.Duration(now.Nanosecond()))
		return began, began.Add(time.Hour)
	case "week":
		const week = 7
		day, days = day-(int(now.Weekday())+week-1)%week, week
	}
	return time.Date(year, month, day, 0, 0, 0, 0, now.Location()), time.Date(year, month, day+days, 0, 0, 0, 0, now.Location())
}

// Spending is what an agent with a budget has spent in the present period.
type Spending struct {
	Budget Budget
	USD    float64
	Began  time.Time // the period
	Ends   time.Time
	Last   time.Time // when it spent something last; zero: never
}

// Over reports whether the budget is spent: the agent gets no message until the period ends.
func (s *Spending) Over() bool { return s != nil && s.USD >= s.Budget.USD() }

// Why says why a spent budget holds the agent: "its budget is spent, $5.12 of $5.00 a day; the next day begins at 00:00".
func (s *Spending) Why() string {
	_, period, _ := strings.Cut(string(s.Budget), "/")
	at := s.Ends.Format("at 15:04")
	if period == "week" {
		at = s.Ends.Format("on Monday, 2 January")
	}
	return fmt.Sprintf("its budget is spent, %s; the next %s begins %s", s, period, at)
}

// String says it in short: "$5.12 of $5.00 a day".
func (s *Spending) String() string {
	_, period, _ := strings.Cut(string(s.Budget), "/")
	article := "a"
	if period == "hour" {
		article = "an"
	}
	return fmt.Sprintf("$%.2f of $%.2f %s %s", s.USD, s.Budget.USD(), article, period)
}
