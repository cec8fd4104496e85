package supervisor

import (
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
)

// Condition is what an agent is waited for to be.
type Condition struct {
	word  string
	below int // percent of the context that is left, of context-below
}

const (
	untilReady        = "ready"
	untilGone         = "gone"
	untilContextBelow = "context-below"
)

// ParseCondition reads "idle", "busy", "waiting", "ready", "gone" or "context-below=25%".
// Errors: BadInput.
func ParseCondition(text string) (Condition, error) {
	word, value, hasValue := strings.Cut(text, "=")
	switch {
	case word == untilContextBelow:
		percent, err := strconv.Atoi(strings.TrimSuffix(value, "%"))
		if err != nil || percent < 1 || percent > 100 {
			return Condition{}, agent.Errorf(agent.BadInput, "%s is not a percentage from 1 to 100", agent.Quote(text)).
				Hint("for example: --for context-below=25%%")
		}
		return Condition{word: word, below: percent}, nil
	case !hasValue && (word == string(agent.Idle) || word == string(agent.Busy) || word == string(agent.Waiting) || word == untilReady || word == untilGone):
		return Condition{word: word}, nil
	}
	return Condition{}, agent.Errorf(agent.BadInput, "there is no state %s to wait for", agent.Quote(text)).
		Hint("one of: idle, busy, waiting, ready, gone, context-below=25%%")
}

// String is the condition as it is typed.
func (c Condition) String() string {
	if c.word == untilContextBelow {
		return c.word + "=" + strconv.Itoa(c.below) + "%"
	}
	return c.word
}

// holds tells whether an agent is so.
func (c Condition) holds(w *Waited) bool {
	switch c.word {
	case untilGone:
		return w.gone()
	case string(agent.Busy):
		return w.Status.State == agent.Busy || w.Status.State == agent.Retrying
	case untilReady:
		return w.Status.State == agent.Idle && !w.notLoggedIn
	case untilContextBelow:
		return !w.gone() && w.Context != nil && w.Context.LeftPercent() < c.below
	default:
		return string(w.Status.State) == c.word
	}
}

// conditions are several, of which one is enough.
type conditions []Condition

func (all conditions) holds(w *Waited) bool {
	for _, c := range all {
		if c.holds(w) {
			return true
		}
	}
	return false
}

func (all conditions) ask(word string) bool {
	for _, c := range all {
		if c.word == word {
			return true
		}
	}
	return false
}

func (all conditions) String() string {
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = c.String()
	}
	return strings.Join(words, " or ")
}
