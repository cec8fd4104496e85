package conversations

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"nbs-worker/internal/human"
)

// Told is a text that was delivered to the chat of a conversation from outside of it. Claude gets it as context of the
// next turn that is answered.
type Told struct {
	Number int       `json:"number"` // from 1, in the order in which they were delivered
	By     string    `json:"by"`     // in words
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
}

// toldLimit is how many bytes of such texts a conversation keeps. The oldest are dropped first.
const toldLimit = 8 << 10

// leftOut ends a text that was cut.
const leftOut = "\n[... the rest is left out ...]"

// Tell records a text that was delivered to the chat. It creates the conversation, with this meta, if it does not
// exist: its first turn may have another meta.
func (c *Conversation) Tell(ctx context.Context, meta Meta, told Told) error {
	if err := c.make(); err != nil {
		return err
	}
	if len(told.Text) > toldLimit {
		told.Text = told.Text[:human.Prefix(told.Text, toldLimit-len(leftOut), utf8.RuneLen)] + leftOut
	}
	return c.locked(ctx, func(w *writer) error {
		line := &Line{What: WasTold, At: told.At, Told: &told}
		if w.last == "" {
			line.Meta = w.founded(meta, told.At)
		}
		return w.append(line)
	})
}

// founded returns the meta of a conversation that begins at this time. Its memory may be on already.
func (w *writer) founded(meta Meta, at time.Time) *Meta {
	meta.Key, meta.Memory = w.c.key, w.Meta.Memory
	if meta.Created.IsZero() {
		meta.Created = at
	}
	return &meta
}

// IsUnused reports whether nothing was ever asked in the conversation: it exists since its chat was told something.
func (s *State) IsUnused() bool { return s.Next == 0 }

// tell adds a text that was delivered, and drops the oldest above the limit.
func (s *State) tell(told Told) {
	s.ToldTo++
	told.Number = s.ToldTo
	s.Told = append(slices.Clone(s.Told), told)
	size := 0
	for i := len(s.Told) - 1; i >= 0; i-- {
		if size += len(s.Told[i].Text); size > toldLimit {
			s.ToldDropped += i + 1
			s.Told = s.Told[i+1:]
			break
		}
	}
}

// carriedBy returns the number of the last such text that Claude got with a turn in the present session.
func (s *State) carriedBy(turn *Turn) (number int) {
	for _, start := range turn.Starts {
		if start.Era == s.Era {
			number = max(number, start.Told)
		}
	}
	return number
}

// carried forgets the texts up to a number.
func (s *State) carried(number int) {
	if number > 0 {
		s.Told = slices.DeleteFunc(slices.Clone(s.Told), func(t Told) bool { return t.Number <= number })
		s.ToldDropped = 0
	}
}
