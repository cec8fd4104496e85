package inspect

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
)

const (
	limitPause = 15 * time.Minute // used where it is not known until when a limit lasts
	refusedIn  = 10               // seconds after a start; later the words on its screen may be anybody's
)

// LimitedUntil returns until when a usage limit would refuse a start of an agent that does not run;
// zero: it would not. An earlier start was refused, and its launcher, which would wait, may be gone.
func (v *View) LimitedUntil() time.Time {
	r := &v.Record
	exit := r.LastExit()
	switch {
	case r.Restarts.After == agent.EndQuota && !r.Restarts.Next.IsZero(): // else its policy was taken back
		return r.Restarts.Next
	case exit == nil || exit.Code <= 0 || exit.UptimeS >= refusedIn:
		return time.Time{}
	}
	limited, until := screen.UsageLimit(exit.LastScreen, exit.At.Local()) // where it names no zone, it is this machine's
	if limited && until.IsZero() {
		return exit.At.Add(limitPause)
	}
	return until
}
