package inspect

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
)

const (
	limitPause = 15 * time.Minute // where it was not said until when a limit lasts
	refusedIn  = 10               // seconds; later the words on its screen may be anybody's
)

// LimitedUntil is until when an agent that does not run would be refused for a usage limit: a start
// was, and of its launcher, which would wait for that, nothing may be left. Zero: it would not be.
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
