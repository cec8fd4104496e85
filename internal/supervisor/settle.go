package supervisor

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"
)

// endPatience is how long one half of an agent may take to follow the other: the
// kernel hangs up the terminal of a killed launcher, which ends claude within 0.2 s;
// the launcher of a dead claude reads the screen and writes the exit down.
const endPatience = 3 * time.Second

// killNotice is how long a process that was just sent SIGKILL may still count as alive.
const killNotice = 250 * time.Millisecond

// settled loads the record of an agent when it no longer is in the middle of its
// end: claude and launcher both live, or both have gone. One that was sent a signal shows
// no sign of it at first. What counts is what was sent before the command was given: a
// command that is about a hundred live agents waits once, and not for each of them.
func (s *Supervisor) settled(ctx context.Context, handle agent.Handle) (agent.Record, error) {
	r, err := s.Store.Load(handle)
	if err != nil || r.Process == nil || r.Process.PID == 0 {
		return r, err
	}
	if !gone(r.Process.Identity) {
		waitGone(ctx, r.Process.Identity, killNotice-time.Since(s.Began))
	}
	if !gone(r.Process.Identity) && serverGone(&r) { // its terminal was hung up, and it leaves by itself
		waitGone(ctx, r.Process.Identity, endPatience-time.Since(s.Began))
	}
	claudeGone, launcherGone := gone(r.Process.Identity), gone(r.Process.LauncherIdentity())
	switch {
	case claudeGone && !launcherGone:
		waitGone(ctx, r.Process.LauncherIdentity(), endPatience)
	case launcherGone && !claudeGone && r.Process.Adopted == nil:
		waitGone(ctx, r.Process.Identity, endPatience)
	}
	return s.Store.Load(handle)
}

// settledDown loads the record of an agent that may be started. One that ends just when
// it is looked at is looked at again.
func (s *Supervisor) settledDown(ctx context.Context, handle agent.Handle, force bool) (agent.Record, error) {
	r, err := s.settled(ctx, handle)
	if err != nil {
		return r, err
	}
	err = s.checkDown(ctx, &r, force)
	if err == nil || r.Process == nil || r.Process.PID == 0 || !gone(r.Process.Identity) && !gone(r.Process.LauncherIdentity()) {
		return r, err
	}
	if r, err = s.settled(ctx, handle); err != nil {
		return r, err
	}
	return r, s.checkDown(ctx, &r, force)
}

// waitGone waits for a process to end; whether it did, the next look at it tells.
func waitGone(ctx context.Context, id agent.Identity, patience time.Duration) {
	if patience <= 0 {
		return
	}
	h, liveness, err := proc.Open(id)
	if err != nil || liveness != proc.Alive {
		return
	}
	defer h.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = h.Wait(ctx)
}
