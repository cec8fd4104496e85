package observe

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
)

// settlePatience is how long one half of an agent may take to follow the other. When a launcher is killed, the
// kernel hangs up its terminal, which ends claude within 0.2 s. When claude dies, its launcher reads the screen and
// records the exit.
const settlePatience = 3 * time.Second

// KillNotice is how long a process that was just sent SIGKILL may still count as alive.
const KillNotice = 250 * time.Millisecond

// notedEvery is how often the record of a claude that has ended is read while its launcher lives.
const notedEvery = 10 * time.Millisecond

// awaitNoted waits until the launcher of a claude that has ended has recorded the end. After that the launcher
// exits, or waits to start claude again.
func (o *Project) awaitNoted(ctx context.Context, r *agent.Record, deadline time.Time) {
	for o.Machine.IsAlive(r.Process.LauncherIdentity()) && time.Now().Before(deadline) && ctx.Err() == nil {
		now, err := o.Store.Load(r.Handle)
		if err != nil || !SameStart(now.Process, r.Process) || now.BacksOff() {
			return
		}
		o.Machine.WaitGone(ctx, r.Process.LauncherIdentity(), min(notedEvery, time.Until(deadline)))
	}
}

// Settled loads the record of an agent once claude and launcher agree: both run, or both have ended. A process that
// was sent a signal does not show it at first. Only signals from before the command count, so that a command about a
// hundred running agents waits once, not for each of them.
func (o *Project) Settled(ctx context.Context, handle agent.Handle) (agent.Record, error) {
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
	if !o.Machine.IsGone(r.Process.Identity) && o.serverGone(&r) { // its terminal was hung up, so it exits by itself
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
