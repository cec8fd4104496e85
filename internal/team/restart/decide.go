// Package restart decides what follows when a start of claude has ended: another start after some time, a hold, or
// nothing.
//
//   - A stop of ours is never followed by a start, whatever the policy.
//   - A failure that another start cannot repair, such as a missing login, causes a hold at once. [Limit] other
//     failures within [Window], a crash loop, cause one too. Only a person ends a hold.
//   - After a failure, there is a wait before the next start, twice as long each time. Once an agent was ready for
//     long, all failures are forgotten.
//   - What must be remembered until the next end is in the record ([agent.Restarts]), so that any process can decide
//     then.
//
// The package is pure: it reads no clock and draws no random number, and the launcher acts on the decision. Of this
// module it imports only agent and human.
package restart

import (
	"fmt"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
)

// The numbers of the policy.
const (
	Limit  = 5                // counted failures within the window that lead to a hold
	Window = 10 * time.Minute // of counting failures; once the agent was ready for so long, all are forgotten

	backoffFirst  = time.Second
	backoffMost   = time.Minute
	slowStep      = 3   // least step for the wait after a slow failure: 8 s at first, and 2 minutes before a hold
	backoffJitter = 0.2 // part of the backoff, added or subtracted: agents that ended together do not start together
	cleanPause    = time.Second
	quotaPause    = 15 * time.Minute // if the end of the limit is unknown

	roomPause = 10 * time.Second

	wellWithin = time.Minute      // a start must be ready within it
	wellAfter  = 10 * time.Second // and must then live for at least so long
)

// StartedWell reports whether a start has succeeded, by when it was ready and how long it lived. Any other start is a
// failure, however it ended: otherwise a claude that exits at once would be started for ever.
func StartedWell(readyAfter, lived time.Duration) bool {
	return readyAfter <= wellWithin && lived-readyAfter >= wellAfter
}

// Ending is what is known about the end of a start.
type Ending struct {
	Class    agent.EndClass
	Reason   string        // in words: "signal: killed"
	Asked    bool          // a command of ours ended it
	Abnormal bool          // a signal ended it
	NoRoom   bool          // the disk was full, or the machine had no room for a process
	Slow     bool          // the cause takes time to repair, such as an update of claude
	Ready    time.Duration // how long it had been ready
	Until    time.Time     // when a usage limit is lifted; zero: unknown
}

// Decision says what follows an end.
type Decision struct {
	Again    bool           // claude is started again
	In       time.Duration  // the wait before that
	Restarts agent.Restarts // what must be remembered
	Why      string         // "": there is nothing to report
}

// Decide decides what follows the end of a start, by the policy and by what is remembered of earlier ends. jitter is
// a random number in [0, 1).
func Decide(word agent.RestartWord, kept agent.Restarts, end Ending, now time.Time, jitter float64) Decision {
	kept = atEnd(kept, end, now)
	switch {
	case word == agent.RestartNo || end.Asked:
		return Decision{}
	case end.Class == agent.EndServer:
		return stay(kept, "its terminal is gone, and its launcher leaves with it")
	case end.Class == agent.EndAuth, end.Class == agent.EndConfig, end.Class == agent.EndConflict:
		return held(kept, end.Class, end.Reason, now)
	case !covers(word, end):
		return stay(kept, fmt.Sprintf("%s, and the restart policy is %s", end.Reason, word))
	case end.Class == agent.EndClean:
		return again(kept, end.Class, cleanPause, now, "it left cleanly, and the restart policy is always")
	case end.Class == agent.EndQuota:
		return again(kept, end.Class, untilLifted(end.Until, now), now, "waiting for the usage limit to end; not counted as a failure")
	}
	if end.NoRoom {
		return again(kept, end.Class, roomPause, now, end.Reason+"; waiting for disk space, not counted as a failure")
	}
	return afterFailure(kept, end, now, jitter)
}

// covers reports whether a policy starts claude again after such an end.
func covers(word agent.RestartWord, end Ending) bool {
	switch word {
	case agent.RestartAlways:
		return true
	case agent.RestartOnFailure:
		return end.Class != agent.EndClean
	case agent.RestartOnAbnormal:
		return end.Abnormal || end.Class == agent.EndLost
	default:
		return false
	}
}

// atEnd forgets old failures, and failures in the future: the clock was set back.
func atEnd(kept agent.Restarts, end Ending, now time.Time) agent.Restarts {
	if end.Ready >= Window {
		return agent.Restarts{}
	}
	late := func(at time.Time) bool { return at.After(now) || now.Sub(at) >= Window }
	return agent.Restarts{Counted: slices.DeleteFunc(slices.Clone(kept.Counted), late), Step: kept.Step}
}

func stay(kept agent.Restarts, why string) Decision {
	return Decision{Restarts: kept, Why: "stays down: " + why}
}

func held(kept agent.Restarts, class agent.EndClass, reason string, now time.Time) Decision {
	kept.Hold = &agent.Hold{Class: class, Reason: reason, Since: wholeSeconds(now)}
	return Decision{Restarts: kept, Why: "held: " + reason}
}

func again(kept agent.Restarts, after agent.EndClass, in time.Duration, now time.Time, why string) Decision {
	kept.After = after
	kept.Next = wholeSeconds(now.Add(in + time.Second - 1)) // rounded up
	return Decision{Again: true, In: in, Restarts: kept, Why: fmt.Sprintf("starts again in %s: %s", in.Round(100*time.Millisecond), why)}
}

const (
	crashesHeld = 3
	soon        = 60 // seconds
)

// KeepsCrashing reports whether the latest starts of an agent each crashed within a minute. Under the policy no, its
// launcher counts no failures and holds nothing; recover and watch ask this before they start it. A start that was
// ended from outside, or by a person, is no crash.
func KeepsCrashing(r *agent.Record) bool {
	return len(r.Exits) >= crashesHeld && !slices.ContainsFunc(r.Exits[len(r.Exits)-crashesHeld:], func(exit agent.Exit) bool {
		return !exit.Seen() || exit.Code == 0 || exit.HungUp || exit.Terminated() || exit.UptimeS > soon
	})
}

// afterFailure counts a failure, and decides between a wait and a hold: [Limit] failures within [Window] are a crash
// loop.
func afterFailure(kept agent.Restarts, end Ending, now time.Time, jitter float64) Decision {
	kept.Counted = append(kept.Counted, wholeSeconds(now))
	if len(kept.Counted) >= Limit {
		return held(kept, end.Class, fmt.Sprintf("it failed %d times in %s, the last time by %s", len(kept.Counted), minutes(Window), end.Reason), now)
	}
	if end.Slow {
		kept.Step = max(kept.Step, slowStep)
	}
	in := backoff(kept.Step, jitter)
	kept.Step++
	return again(kept, end.Class, in, now, fmt.Sprintf("%s, failure %d of %d in %s", end.Reason, len(kept.Counted), Limit, minutes(Window)))
}

func wholeSeconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

func minutes(d time.Duration) string { return human.Count(int(d/time.Minute), "minute") }

// backoff returns the wait before a start, after step earlier failures.
func backoff(step int, jitter float64) time.Duration {
	wait := backoffFirst
	for ; step > 0 && wait < backoffMost; step-- {
		wait *= 2
	}
	wait = min(wait, backoffMost)
	return wait + time.Duration(float64(wait)*backoffJitter*(2*jitter-1))
}

// untilLifted returns how long to wait for the end of a usage limit.
func untilLifted(until, now time.Time) time.Duration {
	if until.After(now) {
		return until.Sub(now)
	}
	return quotaPause
}
