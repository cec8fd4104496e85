package queue

import (
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
)

// Left records the text in an agent's prompt that keeps messages from being typed.
type Left struct {
	Invocation agent.Invocation `json:"invocation"`      // of the start that the prompt is of
	Texts      []string         `json:"texts,omitempty"` // that commands of ours have typed, and not seen to be gone
	Since      time.Time        `json:"since,omitzero"`  // when the first of them was typed
	Blocks     time.Time        `json:"blocks,omitzero"` // since when a draft has blocked messages; zero: no draft blocks them
	Seal       string           `json:"seal"`
}

const mostLeft = 16 // texts

// BlocksAfter returns since when the draft that is in the prompt has kept messages from being typed, given when the
// last turn ended: one that ended later began with the draft that did. Zero: no message was held because of it.
func (l Left) BlocksAfter(turn time.Time) time.Time {
	if turn.Truncate(time.Second).After(l.Blocks) { // which has no fractions
		return time.Time{}
	}
	return l.Blocks
}

// Typed returns left with one more text.
func (l Left) Typed(text string, now time.Time) Left {
	if len(l.Texts) == 0 {
		l.Since = now
	}
	l.Texts = append(slices.DeleteFunc(slices.Clone(l.Texts), func(other string) bool { return other == text }), text)
	l.Texts = l.Texts[max(0, len(l.Texts)-mostLeft):]
	return l
}

// Left returns what was left in the prompt of this start of the agent. It is empty if nothing valid is
// recorded.
func (q *Queue) Left(of agent.Invocation) Left {
	left := leftOf{of: q.handle}
	if q.nbs.Get(Folder, q.leftFile(), &left, mostLeft*entryLimit) != nil || left.Invocation != of {
		return Left{Invocation: of}
	}
	return left.Left
}

// KeepLeft records what was left, or removes the record if nothing was left. It does not sync: a prompt ends
// with this boot. The caller has the agent's verb lock.
func (q *Queue) KeepLeft(left Left) error {
	if len(left.Texts) == 0 && left.Blocks.IsZero() {
		return q.ForgetLeft()
	}
	if err := q.nbs.Prepare(); err != nil {
		return err
	}
	file := &leftOf{left, q.handle}
	if err := q.nbs.Seal(file); err != nil {
		return err
	}
	return q.nbs.HandOver(Folder, q.leftFile(), file, mostLeft*entryLimit)
}

// ForgetLeft removes the record.
func (q *Queue) ForgetLeft() error { return private.IfThere(q.nbs.Remove(Folder + "/" + q.leftFile())) }

func (q *Queue) leftFile() string { return q.handle.Key() + ".left.json" }

// leftOf is the sealed form of what was left in an agent's prompt.
type leftOf struct {
	Left
	of agent.Handle
}

func (l *leftOf) Sealed(project string) sealed.Over {
	content := l.Left
	content.Seal = ""
	return sealed.Over{Kind: Folder, Seal: &l.Seal, Content: struct {
		Project, Handle string
		Left            Left
	}{project, l.of.Key(), content}}
}
