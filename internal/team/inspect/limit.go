package inspect

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
)

const (
	limitPause = 15 * time.Minute // used if the end of a limit is unknown
	refusedIn  = 10               // seconds after a start; later the words on its screen may come from another program
)

// LimitedUntil returns until when a usage limit would refuse a start of an agent that does not run; zero if none
// would. It is for an agent whose earlier start was refused and whose launcher, which would wait, may be gone.
func (v *View) LimitedUntil() time.Time {
	r := &v.Record
	exit := r.LastExit()
	switch {
	case r.Restarts.After == agent.EndQuota && !r.Restarts.Next.IsZero(): // otherwise its policy was removed
		return r.Restarts.Next
	case exit == nil || exit.Code <= 0 || exit.UptimeS >= refusedIn:
		return time.Time{}
	}
	limited, until := screen.UsageLimit(exit.LastScreen, exit.At.Local()) // a time without a zone is in this machine's
	if limited && until.IsZero() {
		until = v.Report.Limits.FullUntil(exit.At)
	}
	if limited && until.IsZero() {
		return exit.At.Add(limitPause)
	}
	return until
}

// LimitEnds returns when the usage limit that ended the last turn resets: see [LastError.LimitEnds].
func (v *View) LimitEnds() time.Time { return v.LastError.LimitEnds(v.Report.Limits) }

// LimitEnds returns when the usage limit that ended a turn resets: the time that Claude printed or, if it printed none,
// the reset of the used-up limit on the status line. It returns zero if no limit ended the turn, or if the time is
// unknown.
func (e *LastError) LimitEnds(limits *agent.Limits) time.Time {
	if e == nil || !e.IsUsageLimit() {
		return time.Time{}
	}
	if _, until := screen.UsageLimit(e.Text, e.At.Local()); !until.IsZero() {
		return until
	}
	return limits.FullUntil(e.At)
}
