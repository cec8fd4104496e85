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
	Short Reason = "short" // of context, or of what a usage limit leaves
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
	for _, look := range []func(*Known) *Need{waits, down, limited, full, done} {
		if need := look(k); need != nil {
			need.Seen = !need.Since.IsZero() && !k.Seen.Before(need.Since)
			return need
		}
	}
	return nil
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
		return &Need{Reason: Down, Since: k.since(), What: k.Status.Word()}
	case k.IsNotAllowed():
		return &Need{Reason: Down, What: k.NotAllowed.Error()}
	}
	return nil
}

const classLimit = "rate_limit" // Claude's class of a turn that a usage limit ended

func limited(k *Known) *Need {
	if !k.failedWith(classLimit) {
		return nil
	}
	return &Need{Reason: Short, Since: k.Report.Failure.At, What: cmp.Or(k.Report.Failure.Text, "a usage limit")}
}

// full is not told again after a look: it stays so until the conversation is compacted.
func full(k *Known) *Need {
	if k.Context == nil || !k.Status.SamePID {
		return nil
	}
	left := k.Context.LeftPercent()
	if band := k.Bands.Of(left); band == agent.Healthy || band == agent.Low || !k.Context.At.After(k.Seen) {
		return nil
	}
	return &Need{Reason: Short, Since: k.Context.At, What: leftOf(left)}
}

func done(k *Known) *Need {
	ended := k.Report.TurnEnd()
	isAtPrompt := k.Status.State == agent.Idle || k.Status.State == agent.TurnFailed
	if !isAtPrompt || ended.IsZero() || !ended.After(k.Seen) {
		return nil
	}
	what := ""
	if k.Status.State == agent.TurnFailed {
		what = k.Status.Word()
	}
	return &Need{Reason: Done, Since: ended, What: what}
}

// failedWith reports whether the last turn ended with an error of this class.
func (k *Known) failedWith(class string) bool {
	return k.Status.State == agent.TurnFailed && k.Report.Failure != nil && k.Report.Failure.Class == class
}

// since returns when the present state began; zero if that is unknown.
func (k *Known) since() time.Time {
	if k.Status.Age == nil {
		return time.Time{}
	}
	return k.Now.Add(-*k.Status.Age)
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
