package costs

import (
	"slices"
	"time"

	"nbs-worker/internal/agent"
)

// Ledger is what an agent has spent, and when.
type Ledger struct {
	Handle    agent.Handle    `json:"handle"`
	SessionID agent.SessionID `json:"session_id"` // the conversation of the last total
	TotalUSD  float64         `json:"total_usd"`  // the last total
	Last      time.Time       `json:"last"`       // when something was spent last; zero: never
	Expenses  []Expense       `json:"expenses"`   // in the order of their times
}

// Expense is what was spent in some time.
type Expense struct {
	At  time.Time `json:"at"` // when that time began
	USD float64   `json:"usd"`
}

// Quarter is the shortest time whose expenses are told apart. In every time zone a day begins with one.
const Quarter = 15 * time.Minute

const (
	whole  = 40 * 24 * time.Hour // how long quarters are told apart
	oneDay = 24 * time.Hour      // what is older is kept by the day
)

// Reading is a total that Claude's status line shows.
type Reading struct {
	SessionID agent.SessionID
	TotalUSD  float64
	At        time.Time
}

// Take adds what was spent since the last reading, and returns it. A total counts only beside an earlier one of the same
// conversation:
//
//   - After a resume, Claude goes on with the total of the conversation. If it cannot, it begins at zero.
//   - After a /clear, Claude 2.1.197 goes on, and 2.1.332 begins at zero.
//   - The total of a fork contains its parent's, and that of a conversation which the agent has entered or returned to
//     was spent before.
//
// Claude shows its first total at a start and after a /clear, before a turn can cost anything; 2.1.197 does not after its
// own /resume, whose first turn is not counted.
func (l *Ledger) Take(r Reading) (spent float64) {
	switch {
	case l.SessionID != r.SessionID:
	case r.TotalUSD >= l.TotalUSD:
		spent = r.TotalUSD - l.TotalUSD
	default:
		spent = r.TotalUSD
	}
	l.SessionID, l.TotalUSD = r.SessionID, r.TotalUSD
	l.add(r.At, spent)
	return spent
}

// has reports whether a reading says nothing new.
func (l *Ledger) has(r Reading) bool {
	return l.SessionID == r.SessionID && l.TotalUSD == r.TotalUSD
}

// add adds an expense. On a new day, old expenses are merged.
func (l *Ledger) add(at time.Time, usd float64) {
	if usd <= 0 {
		return
	}
	l.Last = at.UTC()
	at = l.Last.Truncate(Quarter)
	last := len(l.Expenses) - 1
	if last >= 0 && !at.After(l.Expenses[last].At) { // or the clock was set back
		l.Expenses[last].USD += usd
		return
	}
	if last >= 0 && !at.Truncate(oneDay).Equal(l.Expenses[last].At.Truncate(oneDay)) {
		l.merge(at)
	}
	l.Expenses = append(l.Expenses, Expense{at, usd})
}

// merge makes one expense for each day of those that are old at a time.
func (l *Ledger) merge(at time.Time) {
	var kept []Expense
	for _, e := range l.Expenses {
		if at.Sub(e.At) > whole {
			e.At = e.At.Truncate(oneDay)
		}
		if last := len(kept) - 1; last >= 0 && !e.At.After(kept[last].At) {
			kept[last].USD += e.USD
		} else {
			kept = append(kept, e)
		}
	}
	l.Expenses = kept
}

// Since returns what was spent since a time, to the quarter of an hour. The zero time is since the beginning.
func (l *Ledger) Since(from time.Time) (usd float64) {
	from = from.UTC().Truncate(Quarter)
	for _, e := range slices.Backward(l.Expenses) {
		if e.At.Before(from) {
			break
		}
		usd += e.USD
	}
	return usd
}

// Spending returns what was spent in the period of a budget that contains now; nil without a budget.
func (l *Ledger) Spending(budget agent.Budget, now time.Time) *agent.Spending {
	if budget == "" {
		return nil
	}
	began, ends := budget.Period(now)
	return &agent.Spending{Budget: budget, USD: l.Since(began), Began: began, Ends: ends, Last: l.Last}
}
