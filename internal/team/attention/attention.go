// Package attention decides which agents need a person, why, and since when. [Of] and [Compare] are pure; a [Judge] reads
// the user's looks, once for all agents of a project. The package changes nothing.
package attention

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// Reason is why an agent needs a person.
type Reason string

// The reasons. If an agent has several, the first of them counts.
const (
	Waits Reason = "waits" // for an answer: a permission, a question, a dialog, a login
	Down  Reason = "down"  // it does not run and should, or it may not be started
	Short Reason = "short" // of context, of what a usage limit leaves, or of its budget
	Done  Reason = "done"  // its turn has ended, and no person has looked since
)

// Reasons are all reasons.
var Reasons = []Reason{Waits, Down, Short, Done}

// Need is why an agent needs a person.
type Need struct {
	Reason Reason
	Since  time.Time // zero: unknown
	What   string    // in short: "permission prompt", "9% of its context is left"
	Seen   bool      // a person has looked at the agent since
	SeenAt time.Time // when a person last looked at the agent; zero: never
}

// Known is what is known of an agent.
type Known struct {
	*observe.Sight

	Context *agent.ContextUse // nil: unknown
	Bands   agent.Bands
	Now     time.Time
	Seen    time.Time // when a person last looked at the agent; zero: never
}

// Of returns why an agent needs a person; nil if it does not.
func Of(k *Known) *Need {
	for _, look := range []func(*Known) *Need{waits, down, limited, overspent, full, done} {
		if need := look(k); need != nil {
			need.Seen, need.SeenAt = k.isSeen(need.Since), k.Seen
			return need
		}
	}
	return nil
}

// isSeen reports whether a person has looked at the agent since a time. If that time is unknown, a look after the
// agent's last sign of life counts.
func (k *Known) isSeen(since time.Time) bool {
	if since.IsZero() {
		since = k.lastSign()
	}
	return !k.Seen.IsZero() && !k.Seen.Before(since) || k.isAttended(since)
}

// Stays is how long a person who has pressed no key is taken to sit at a terminal that shows the agent.
const Stays = 2 * time.Minute

// isAttended reports whether a person was at the agent's terminal at some time, or has been there since: a key was
// pressed there after that time; or shortly before it, and the terminal still shows the agent.
func (k *Known) isAttended(since time.Time) bool {
	pane := k.Pane
	if pane == nil || !pane.Active || pane.Touched.IsZero() {
		return false
	}
	return pane.Touched.After(since) || pane.Attached > 0 && since.Sub(pane.Touched) <= Stays
}

func waits(k *Known) *Need {
	switch {
	case k.Status.State == agent.Waiting && k.Asked != nil:
		return &Need{Reason: Waits, Since: k.since(), What: k.Asked.String()}
	case k.Status.State == agent.Waiting:
		return &Need{Reason: Waits, Since: k.since(), What: k.Status.Detail}
	case k.failedWith(inspect.ClassAuthentication):
		return &Need{Reason: Waits, Since: k.Report.Failure.At, What: "a login"}
	}
	return nil
}

func down(k *Known) *Need {
	switch {
	case k.Status.Down() && k.Status.State != agent.Backoff && k.Status.Cause != agent.Stopped && k.Record.LaunchDesired() == agent.DesiredRunning:
		need := &Need{Reason: Down, Since: k.since(), What: k.Status.Word()}
		if hold := k.Record.Restarts.Hold; hold != nil {
			need.Since, need.What = hold.Since, need.What+"; held: "+hold.Reason
		}
		return need
	case k.IsNotAllowed():
		return &Need{Reason: Down, What: k.NotAllowed.Error()}
	}
	return nil
}

// limited is a usage limit that ended the last turn. After its reset, the agent only waits for a prompt.
func limited(k *Known) *Need {
	if k.Status.State != agent.TurnFailed || k.Report.Failure == nil {
		return nil
	}
	last := inspect.LastError{Class: k.Report.Failure.Class, At: k.Report.Failure.At, Text: k.Report.Failure.Text}
	if ends := last.LimitEnds(k.Report.Limits); !last.IsUsageLimit() || !ends.IsZero() && !ends.After(k.Now) {
		return nil
	}
	return &Need{Reason: Short, Since: last.At, What: cmp.Or(last.Text, "a usage limit")}
}

// overspent is a budget that is spent. The agent gets no message until the period ends, or until its budget is changed.
func overspent(k *Known) *Need {
	if !k.Spending.Over() || !k.Status.SamePID {
		return nil
	}
	return &Need{Reason: Short, Since: k.Spending.Last, What: k.Spending.Why()}
}

// full is told again at the end of each turn until the conversation is compacted. While the agent works, one look
// in this start is enough: a person cannot do anything about it then.
func full(k *Known) *Need {
	if k.Context == nil || !k.Status.SamePID {
		return nil
	}
	left := k.Context.LeftPercent()
	band := k.Bands.Of(left)
	isShort := band == agent.Critical || band == agent.Floor
	isKnown := k.isSeen(k.Context.At) || k.isWorking() && k.Seen.After(k.Record.Started)
	if !isShort || isKnown {
		return nil
	}
	return &Need{Reason: Short, Since: k.Context.At, What: leftOf(left)}
}

func (k *Known) isWorking() bool {
	return k.Status.State == agent.Busy || k.Status.State == agent.Retrying
}

func done(k *Known) *Need {
	ended := k.Report.TurnEnd()
	isAtPrompt := k.Status.State == agent.Idle || k.Status.State == agent.TurnFailed
	if !isAtPrompt || ended.IsZero() || k.isSeen(ended) {
		return nil
	}
	need := &Need{Reason: Done, Since: ended}
	if k.Status.Detail != "" {
		need.What = k.Status.Word()
	}
	return need
}

// failedWith reports whether the last turn ended with an error of this class.
func (k *Known) failedWith(class string) bool {
	return k.Status.State == agent.TurnFailed && k.Report.Failure != nil && k.Report.Failure.Class == class
}

// since returns when the present state began; zero if that is unknown. A screen does not show since when it shows a
// dialog: that is after the agent's last sign.
func (k *Known) since() time.Time {
	switch {
	case k.Status.Source == agent.FromScreen:
		return k.lastSign()
	case k.Status.Age == nil:
		return time.Time{}
	}
	return k.Now.Add(-*k.Status.Age)
}

// lastSign returns when the agent was started, or when one of its hooks last reported something.
func (k *Known) lastSign() time.Time {
	last := k.Record.Started
	if k.Report.Activity != nil && k.Report.Activity.At.After(last) {
		last = k.Report.Activity.At
	}
	return last
}

// Compare orders needs: those that no person has looked at first, then those that have lasted longest.
func Compare(a, b *Need) int {
	if a.Seen != b.Seen {
		if b.Seen {
			return -1
		}
		return 1
	}
	return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(slices.Index(Reasons, a.Reason), slices.Index(Reasons, b.Reason)))
}

func leftOf(percent int) string { return strconv.Itoa(percent) + "% of its context is left" }
