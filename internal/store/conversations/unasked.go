package conversations

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Unasked is what came in a conversation after a turn was finished: words that Claude said by itself, or a notice.
type Unasked struct {
	ID      string    `json:"id"`
	Turn    string    `json:"turn"`              // the id of the turn after which it came
	Text    string    `json:"text"`              // "": nothing was said, and only what it cost counts
	Notice  bool      `json:"notice,omitempty"`  // the words are not Claude's
	Ended   bool      `json:"ended,omitempty"`   // the claude was ended: nothing more comes of it
	Tell    bool      `json:"tell,omitempty"`    // a chat is told of it
	Denials []Denial  `json:"denials,omitempty"` // the tools that were refused; the text says which
	Class   string    `json:"class,omitempty"`   // what the turn before it becomes for that; "": it stays answered
	Usage   Usage     `json:"usage,omitzero"`
	Cost    *float64  `json:"cost_usd,omitempty"`
	At      time.Time `json:"at"`
}

// Add records what came after a finished turn, and adds it to the result of the turn. With Tell it is in the state until
// [Conversation.Delivered].
func (c *Conversation) Add(ctx context.Context, came Unasked) error {
	return c.locked(ctx, func(w *writer) error {
		if err := w.append(&Line{What: Added, At: came.At, ID: came.ID, Unasked: &came}); err != nil {
			return err
		}
		result, there, err := c.resultOf(&w.State, came.Turn)
		if err != nil || !there {
			return err
		}
		result.add(&came)
		return c.write(c.sub, results+"/"+idFile(result.ID), result)
	})
}

// Recorded is Result after all that is being added to it.
func (c *Conversation) Recorded(ctx context.Context, id string) (result Result, there bool, err error) {
	err = c.locked(ctx, func(w *writer) error {
		result, there, err = c.resultOf(&w.State, id)
		return err
	})
	return result, there, err
}

// Delivered records that a chat was told of something that came unasked.
func (c *Conversation) Delivered(ctx context.Context, id string) error {
	return c.change(ctx, func(*State) (*Line, error) { return &Line{What: Delivered, At: time.Now().UTC(), ID: id}, nil })
}

func (s *State) addUnasked(line *Line) {
	if line.What == Delivered {
		s.Untold = slices.DeleteFunc(s.Untold, func(u Unasked) bool { return u.ID == line.ID })
		return
	}
	s.LastAt = line.At
	if came := line.Unasked; came != nil {
		s.spend(line.At, came.Cost)
		s.Cut = s.Cut || came.Notice && came.Text != "" && len(came.Denials) == 0
		if came.Ended {
			s.Lingering = slices.DeleteFunc(s.Lingering, func(left Turn) bool { return left.ID == came.Turn })
		}
		if came.Turn == s.Last && !came.Notice && came.Text != "" {
			s.Heard++
		}
		if came.Tell {
			s.Untold = append(s.Untold, *came)
		}
	}
}

func (r *Result) add(came *Unasked) {
	r.Denials = append(r.Denials, came.Denials...)
	if came.Class != "" && r.Class == "" {
		r.Class, r.Error = came.Class, strings.TrimSuffix(came.Text, ".")
	}
	switch {
	case came.Notice:
		r.Notice = strings.TrimSpace(r.Notice + " " + came.Text)
	case came.Text != "":
		r.FollowUps = append(r.FollowUps, came.Text)
	}
	r.Usage = Usage{
		r.Usage.Input + came.Usage.Input, r.Usage.Output + came.Usage.Output,
		r.Usage.CacheRead + came.Usage.CacheRead, r.Usage.CacheCreation + came.Usage.CacheCreation,
	}
	if came.Cost != nil {
		sum := *came.Cost
		if r.CostUSD != nil {
			sum += *r.CostUSD
		}
		r.CostUSD = &sum
	}
}
