package wait

import (
	"slices"
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Condition is a state of an agent to wait for.
type Condition struct {
	word  string
	below int // of context-below: the remaining context, in percent
}

const (
	untilReady        = "ready"
	untilDone         = "done"
	untilFailed       = "failed"
	untilGone         = "gone"
	untilNeeds        = "needs"
	untilContextBelow = "context-below"
)

// ParseCondition parses one of the words of [Conditions], or "context-below=25%". Errors: BadInput.
func ParseCondition(text string) (Condition, error) {
	word, value, hasValue := strings.Cut(text, "=")
	switch {
	case word == untilContextBelow:
		percent, err := strconv.Atoi(strings.TrimSuffix(value, "%"))
		if err != nil || percent < 1 || percent > 100 {
			return Condition{}, fail.Errorf(fail.BadInput, "%s is not a percentage from 1 to 100", human.Quote(text)).
				Hint("for example: --for context-below=25%%")
		}
		return Condition{word: word, below: percent}, nil
	case !hasValue && slices.Contains(Conditions, word):
		return Condition{word: word}, nil
	}
	return Condition{}, fail.Errorf(fail.BadInput, "there is no state %s to wait for", human.Quote(text)).
		Hint("one of: %s, context-below=25%%", strings.Join(Conditions, ", "))
}

// Gone is the condition that an agent has ended, for any reason, or was dismissed.
func Gone() Condition { return Condition{word: untilGone} }

// Conditions are the words of all conditions except context-below, which has a value.
var Conditions = []string{string(agent.Idle), untilDone, untilReady, string(agent.Busy), string(agent.Waiting), untilFailed, untilNeeds, untilGone}

// String returns the condition in the form in which it is typed.
func (c Condition) String() string {
	if c.word == untilContextBelow {
		return c.word + "=" + strconv.Itoa(c.below) + "%"
	}
	return c.word
}

// holds reports whether an agent meets the condition.
func (c Condition) holds(w *Waited) bool {
	switch c.word {
	case untilGone:
		return w.gone()
	case string(agent.Busy):
		return w.Status.State == agent.Busy || w.Status.State == agent.Retrying
	case untilReady:
		return (w.Status.State == agent.Idle || w.Status.State == agent.TurnFailed) && !w.notLoggedIn
	case untilDone:
		return w.Status.State == agent.Idle && w.done && !w.goesOn
	case untilNeeds:
		return w.Need != nil
	case untilContextBelow:
		return !w.gone() && w.Context != nil && w.Context.LeftPercent() < c.below
	default:
		return string(w.Status.State) == c.word
	}
}

// conditions are several conditions; meeting one is enough.
type conditions []Condition

func (all conditions) holds(w *Waited) bool {
	return slices.ContainsFunc(all, func(c Condition) bool { return c.holds(w) })
}

// failWith reports whether waiting for idle or done is in vain because the turn has failed: the agent is at its
// prompt, but its work will not be done before someone acts.
func (all conditions) failWith(w *Waited) bool {
	return w.Status.State == agent.TurnFailed && (all.ask(string(agent.Idle)) || all.ask(untilDone))
}

func (all conditions) ask(word string) bool {
	return slices.ContainsFunc(all, func(c Condition) bool { return c.word == word })
}

func (all conditions) String() string {
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = c.String()
	}
	return strings.Join(words, " or ")
}
