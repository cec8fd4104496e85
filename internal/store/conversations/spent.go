package conversations

import (
	"slices"
	"time"
)

// Spent is what the turns of a quarter of an hour cost. A day begins with a quarter in each time zone.
type Spent struct {
	Quarter int64   `json:"quarter"` // number since 1970
	USD     float64 `json:"usd"`
}

const (
	quarter      = 15 * time.Minute
	quartersKept = 2 * 24 * 4
)

func quarterOf(at time.Time) int64 { return at.Unix() / int64(quarter/time.Second) }

// spend adds the cost of a turn, or of what Claude said by itself; nil is a cost that Claude did not state.
func (s *State) spend(at time.Time, usd *float64) {
	if usd == nil {
		return
	}
	s.TotalUSD += *usd
	now := quarterOf(at)
	s.Spent = slices.DeleteFunc(slices.Clone(s.Spent), func(of Spent) bool { return of.Quarter <= now-quartersKept })
	if i := slices.IndexFunc(s.Spent, func(of Spent) bool { return of.Quarter == now }); i >= 0 {
		s.Spent[i].USD += *usd
		return
	}
	s.Spent = append(s.Spent, Spent{now, *usd})
}

// SpentSince returns what the turns have cost since a time of the last two days, in US dollars.
func (s *State) SpentSince(at time.Time) float64 {
	sum := 0.0
	for _, of := range s.Spent {
		if of.Quarter >= quarterOf(at) {
			sum += of.USD
		}
	}
	return sum
}
