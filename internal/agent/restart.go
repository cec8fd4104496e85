package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// RestartPolicy says when the launcher starts claude again by itself.
type RestartPolicy struct {
	Policy RestartWord `json:"policy"`
}

// RestartWord says after which ends claude is started again.
type RestartWord string

// The words, which are systemd's. A stop of ours, and a person who leaves claude, are no failure.
const (
	RestartNo         RestartWord = "no"
	RestartOnFailure  RestartWord = "on-failure"  // unless it left cleanly
	RestartOnAbnormal RestartWord = "on-abnormal" // when a signal ended it
	RestartAlways     RestartWord = "always"      // after each end that nobody asked for
)

// RestartWords are all of them.
var RestartWords = []RestartWord{RestartNo, RestartOnFailure, RestartOnAbnormal, RestartAlways}

// ParseRestartWord checks a word. Errors: BadInput.
func ParseRestartWord(s string) (RestartWord, error) {
	if slices.Contains(RestartWords, RestartWord(s)) {
		return RestartWord(s), nil
	}
	names := make([]string, len(RestartWords))
	for i, word := range RestartWords {
		names[i] = string(word)
	}
	return "", Errorf(BadInput, "restart policy %s is not one of %s", Quote(s), strings.Join(names, ", "))
}

// LaunchRestart is the word by which the launcher acts. The original tools recorded none.
func (s *Spec) LaunchRestart() RestartWord { return cmp.Or(s.Restart.Policy, RestartNo) }

// EndClass is what the end of a start means for the next one.
type EndClass string

// The classes.
const (
	EndClean    EndClass = "clean"    // it left in good order
	EndCrash    EndClass = "crash"    // a signal, another code, or it was gone before it was well started
	EndQuota    EndClass = "quota"    // a usage limit was reached
	EndAuth     EndClass = "auth"     // nobody is logged in
	EndConfig   EndClass = "config"   // claude refuses to start as it is recorded
	EndConflict EndClass = "conflict" // somebody else has the conversation
	EndLost     EndClass = "lost"     // nobody saw it
	EndServer   EndClass = "server"   // its terminal went away: the tmux server, the session or the pane
)

var endClasses = []EndClass{EndClean, EndCrash, EndQuota, EndAuth, EndConfig, EndConflict, EndLost, EndServer}

// Restarts is what has to be remembered from one end to the next, whoever dies in between. A start
// that a person asks for begins with none of it.
type Restarts struct {
	Counted []time.Time `json:"counted,omitempty"` // failures of late, oldest first
	Step    int         `json:"step,omitempty"`    // of the backoff: failures since it was ready for long
	Next    time.Time   `json:"next,omitzero"`     // when claude is to be started again; zero: it is not waited for
	After   EndClass    `json:"after,omitempty"`   // the class of the end after which Next is waited for
	Hold    *Hold       `json:"hold,omitempty"`    // nil: none
}

// Begun is what is remembered when the next start is made: nothing is waited for any more.
func (r Restarts) Begun() Restarts { return Restarts{Counted: r.Counted, Step: r.Step} }

// BacksOff tells whether the start has ended, and its launcher was to wait and to start claude again.
func (r *Record) BacksOff() bool {
	return !r.Restarts.Next.IsZero() && r.Process != nil && r.ExitOf(r.Process.Invocation) != nil
}

// Hold is that claude is not started again before a person has looked.
type Hold struct {
	Class  EndClass  `json:"class"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
}

// IsZero tells whether there is nothing to remember.
func (r Restarts) IsZero() bool {
	return len(r.Counted) == 0 && r.Step == 0 && r.Next.IsZero() && r.Hold == nil
}

// The numbers of the policy.
const (
	RestartLimit  = 5                // counted failures within the window that lead to a hold
	RestartWindow = 10 * time.Minute // of the count; and when it was ready for so long, all is forgotten

	backoffFirst  = time.Second
	backoffMost   = time.Minute
	backoffJitter = 0.2 // of the backoff, to both sides: agents that fell together do not rise together
	cleanPause    = time.Second
	quotaPause    = 15 * time.Minute // when it was not said until when the limit lasts

	wellWithin = time.Minute      // in which a start has to be ready
	wellAfter  = 10 * time.Second // which it has to live then
)

// StartedWell tells whether a start has succeeded, by when it was ready and how long it lived. One
// that has not is a failure, however it ended: else what comes up and falls at once would be started
// for ever.
func StartedWell(readyAfter, lived time.Duration) bool {
	return readyAfter <= wellWithin && lived-readyAfter >= wellAfter
}

// Ending is what the policy is told of the end of a start.
type Ending struct {
	Class    EndClass
	Reason   string        // in words: "signal: killed"
	Asked    bool          // a command of ours ended it
	Abnormal bool          // a signal ended it
	Ready    time.Duration // for how long it had been ready
	Until    time.Time     // of a usage limit: when it is lifted; zero: that was not said
}

// Decision is what follows an end.
type Decision struct {
	Again    bool          // claude is started again
	In       time.Duration // after so long
	Restarts Restarts      // what is to be remembered
	Why      string        // "": there is nothing to tell
}

// Decide says what follows the end of a start. jitter is a random number in [0, 1).
func (w RestartWord) Decide(kept Restarts, end Ending, now time.Time, jitter float64) Decision {
	kept = kept.atEnd(end, now)
	switch {
	case w == RestartNo || end.Asked:
		return Decision{}
	case end.Class == EndServer:
		return kept.stay("its terminal is gone, and its launcher leaves with it")
	case end.Class == EndAuth, end.Class == EndConfig, end.Class == EndConflict:
		return kept.held(end.Class, end.Reason, now)
	case !w.covers(end):
		return kept.stay(fmt.Sprintf("%s, and the restart policy is %s", end.Reason, w))
	case end.Class == EndClean:
		return kept.again(end.Class, cleanPause, now, "it left cleanly, and the restart policy is always")
	case end.Class == EndQuota:
		return kept.again(end.Class, untilLifted(end.Until, now), now, "the usage limit is waited for, which does not count as a failure")
	}
	return kept.afterFailure(end, now, jitter)
}

// covers tells whether a policy starts claude again after such an end.
func (w RestartWord) covers(end Ending) bool {
	switch w {
	case RestartAlways:
		return true
	case RestartOnFailure:
		return end.Class != EndClean
	case RestartOnAbnormal:
		return end.Abnormal || end.Class == EndLost
	default:
		return false
	}
}

// atEnd forgets what is long ago, and what a clock that was put back has made the future.
func (r Restarts) atEnd(end Ending, now time.Time) Restarts {
	if end.Ready >= RestartWindow {
		return Restarts{}
	}
	late := func(at time.Time) bool { return at.After(now) || now.Sub(at) >= RestartWindow }
	return Restarts{Counted: slices.DeleteFunc(slices.Clone(r.Counted), late), Step: r.Step}
}

func (r Restarts) stay(why string) Decision {
	return Decision{Restarts: r, Why: "stays down: " + why}
}

func (r Restarts) held(class EndClass, reason string, now time.Time) Decision {
	r.Hold = &Hold{Class: class, Reason: reason, Since: wholeSeconds(now)}
	return Decision{Restarts: r, Why: "held: " + reason}
}

func (r Restarts) again(after EndClass, in time.Duration, now time.Time, why string) Decision {
	r.After = after
	r.Next = wholeSeconds(now.Add(in + time.Second - 1)) // not before
	return Decision{Again: true, In: in, Restarts: r, Why: fmt.Sprintf("starts again in %s: %s", in.Round(100*time.Millisecond), why)}
}

// afterFailure counts a failure, and backs off or holds.
func (r Restarts) afterFailure(end Ending, now time.Time, jitter float64) Decision {
	r.Counted = append(r.Counted, wholeSeconds(now))
	if len(r.Counted) >= RestartLimit {
		return r.held(end.Class, fmt.Sprintf("it failed %d times in %s, the last time by %s", len(r.Counted), minutes(RestartWindow), end.Reason), now)
	}
	in := backoff(r.Step, jitter)
	r.Step++
	return r.again(end.Class, in, now, fmt.Sprintf("%s, failure %d of %d in %s", end.Reason, len(r.Counted), RestartLimit, minutes(RestartWindow)))
}

func wholeSeconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

func minutes(d time.Duration) string { return Count(int(d/time.Minute), "minute") }

// backoff is how long is waited after so many failures before.
func backoff(step int, jitter float64) time.Duration {
	wait := backoffFirst
	for ; step > 0 && wait < backoffMost; step-- {
		wait *= 2
	}
	wait = min(wait, backoffMost)
	return wait + time.Duration(float64(wait)*backoffJitter*(2*jitter-1))
}

// untilLifted is how long a usage limit is waited for.
func untilLifted(until, now time.Time) time.Duration {
	if until.After(now) {
		return until.Sub(now)
	}
	return quotaPause
}

func checkRestarts(r *Restarts) error {
	if r.After != "" && !slices.Contains(endClasses, r.After) {
		return Errorf(BadInput, "class of an end is not known: %s", Quote(string(r.After)))
	}
	if r.Hold == nil {
		return nil
	}
	if !slices.Contains(endClasses, r.Hold.Class) {
		return Errorf(BadInput, "class of a hold is not known: %s", Quote(string(r.Hold.Class)))
	}
	return CheckText("reason of a hold", r.Hold.Reason)
}
