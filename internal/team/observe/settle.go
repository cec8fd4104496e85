package observe

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
)

// settlePatience is how long one half of an agent may take to follow the other: the kernel
// hangs up the terminal of a killed launcher, which ends claude within 0.2 s; the launcher of
// a dead claude reads the screen and writes the exit down.
const settlePatience = 3 * time.Second

// KillNotice is how long a process that was just sent SIGKILL may still count as alive.
const KillNotice = 250 * time.Millisecond

// notedEvery is how often the record of a claude that has ended is read while its launcher lives.
const notedEvery = 10 * time.Millisecond

// awaitNoted gives the launcher of a claude that has ended the time to write down how. Then the
// launcher exits, or waits to start claude again.
func (o *Observer) awaitNoted(ctx context.Context, r *agent.Record, deadline time.Time) {
	for o.Machine.IsAlive(r.Process.LauncherIdentity()) && time.Now().Before(deadline) && ctx.Err() == nil {
		now, err := o.Store.Load(r.Handle)
		if err != nil || !SameStart(now.Process, r.Process) || now.BacksOff() {
			return
		}
		o.Machine.WaitGone(ctx, r.Process.LauncherIdentity(), min(notedEvery, time.Until(deadline)))
	}
}

// Settled loads the record of an agent once claude and launcher agree: both live, or both have
// ended. A process that was sent a signal shows no sign of it at first. Only signals from before
// the command was given count, so that a command about a hundred live agents waits once, and not
// for each of them.
func (o *Observer) Settled(ctx context.Context, handle agent.Handle) (agent.Record, error) {
	r, err := o.Store.Load(handle)
	if err != nil || r.Process == nil || r.Process.PID == 0 {
		return r, err
	}
	if !o.Machine.IsGone(r.Process.Identity) {
		o.Machine.WaitGone(ctx, r.Process.Identity, KillNotice-time.Since(o.Began))
	}
	if _, ending, _ := o.Machine.CheckEnding(r.Process.Identity); ending {
		o.Machine.WaitGone(ctx, r.Process.Identity, settlePatience)
	}
	if !o.Machine.IsGone(r.Process.Identity) && o.serverGone(&r) { // its terminal was hung up, and it leaves by itself
		o.Machine.WaitGone(ctx, r.Process.Identity, settlePatience-time.Since(o.Began))
	}
	claudeGone, launcherGone := o.Machine.IsGone(r.Process.Identity), o.Machine.IsGone(r.Process.LauncherIdentity())
	switch {
	case claudeGone && !launcherGone:
		o.awaitNoted(ctx, &r, time.Now().Add(settlePatience))
	case launcherGone && !claudeGone && r.Process.Adopted == nil:
		o.Machine.WaitGone(ctx, r.Process.Identity, settlePatience)
	}
	return o.Store.Load(handle)
}
