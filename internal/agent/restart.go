package agent

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
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
	return "", fail.Errorf(fail.BadInput, "restart policy %s is not one of %s", human.Quote(s), strings.Join(names, ", "))
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

// Restarts is what has to be remembered from one end to the next, whatever process is killed in
// between. A start that a person asks for begins with none of it.
type Restarts struct {
	Counted []time.Time `json:"counted,omitempty"` // failures of late, oldest first
	Step    int         `json:"step,omitempty"`    // of the backoff: failures since it was ready for long
	Next    time.Time   `json:"next,omitzero"`     // when claude is to be started again; zero: no start is due
	After   EndClass    `json:"after,omitempty"`   // the class of the end that led to Next
	Hold    *Hold       `json:"hold,omitempty"`    // nil: none
}

// Begun returns what remains when the next start is made: no start is due, and nothing is held.
func (r Restarts) Begun() Restarts { return Restarts{Counted: r.Counted, Step: r.Step} }

// BacksOff reports whether the latest start has ended and its launcher was to wait and start claude again.
func (r *Record) BacksOff() bool {
	return !r.Restarts.Next.IsZero() && r.Process != nil && r.ExitOf(r.Process.Invocation) != nil
}

// AwaitsStart reports whether the launcher that backs off is still to start claude again.
func (r *Record) AwaitsStart() bool {
	return r.BacksOff() && r.Desired != DesiredStopped && r.LaunchRestart() != RestartNo
}

// Hold keeps claude from being started again before a person has looked.
type Hold struct {
	Class  EndClass  `json:"class"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
}

// IsZero reports whether there is nothing to remember.
func (r Restarts) IsZero() bool {
	return len(r.Counted) == 0 && r.Step == 0 && r.Next.IsZero() && r.Hold == nil
}

func checkRestarts(r *Restarts) error {
	if r.After != "" && !slices.Contains(endClasses, r.After) {
		return fail.Errorf(fail.BadInput, "class of an end is not known: %s", human.Quote(string(r.After)))
	}
	if r.Hold == nil {
		return nil
	}
	if !slices.Contains(endClasses, r.Hold.Class) {
		return fail.Errorf(fail.BadInput, "class of a hold is not known: %s", human.Quote(string(r.Hold.Class)))
	}
	return CheckText("reason of a hold", r.Hold.Reason)
}
