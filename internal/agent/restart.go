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

// The words of systemd. A stop of ours is no failure, and neither is a person who leaves claude.
const (
	RestartNo         RestartWord = "no"
	RestartOnFailure  RestartWord = "on-failure"  // unless it left cleanly
	RestartOnAbnormal RestartWord = "on-abnormal" // when a signal ended it
	RestartAlways     RestartWord = "always"      // after each end that was not requested
)

// RestartWords lists all words.
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

// LaunchRestart returns the word for the launcher. The original tools did not record one.
func (s *Spec) LaunchRestart() RestartWord { return cmp.Or(s.Restart.Policy, RestartNo) }

// EndClass is the class of an end: what it means for the next start.
type EndClass string

// The classes.
const (
	EndClean    EndClass = "clean"    // it left in good order
	EndCrash    EndClass = "crash"    // a signal, another code, or it ended before it was well started
	EndQuota    EndClass = "quota"    // a usage limit was reached
	EndAuth     EndClass = "auth"     // claude is not logged in
	EndConfig   EndClass = "config"   // claude refuses to start as recorded
	EndConflict EndClass = "conflict" // another process has the conversation
	EndLost     EndClass = "lost"     // no process saw the end
	EndServer   EndClass = "server"   // its terminal is gone: the tmux server, the session or the pane
)

var endClasses = []EndClass{EndClean, EndCrash, EndQuota, EndAuth, EndConfig, EndConflict, EndLost, EndServer}

// Restarts is what must be remembered from one end to the next, even if a process is killed in between. A start that
// a person requests begins with an empty one.
type Restarts struct {
	Counted []time.Time `json:"counted,omitempty"` // recent failures, oldest first
	Step    int         `json:"step,omitzero"`     // of the backoff: failures since it was ready for long
	Next    time.Time   `json:"next,omitzero"`     // when to start claude again; zero: no start is due
	After   EndClass    `json:"after,omitempty"`   // the class of the end that led to Next
	Hold    *Hold       `json:"hold,omitempty"`    // nil: not held
}

// Begun returns what remains when the next start begins: no start is due, and there is no hold.
func (r Restarts) Begun() Restarts { return Restarts{Counted: r.Counted, Step: r.Step} }

// BacksOff reports whether the latest start has ended and its launcher was to wait and start claude again.
func (r *Record) BacksOff() bool {
	return !r.Restarts.Next.IsZero() && r.Process != nil && r.ExitOf(r.Process.Invocation) != nil
}

// AwaitsStart reports whether the launcher waits to start claude again.
func (r *Record) AwaitsStart() bool {
	return r.BacksOff() && r.Desired != DesiredStopped && r.LaunchRestart() != RestartNo
}

// Hold keeps claude from being started again until a person has looked.
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
		return fail.Errorf(fail.BadInput, "unknown class of an end: %s", human.Quote(string(r.After)))
	}
	if r.Hold == nil {
		return nil
	}
	if !slices.Contains(endClasses, r.Hold.Class) {
		return fail.Errorf(fail.BadInput, "unknown class of a hold: %s", human.Quote(string(r.Hold.Class)))
	}
	return CheckText("reason of a hold", r.Hold.Reason)
}
