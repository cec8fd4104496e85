package observe

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
)

// Death is the evidence about the end of a start. Much of it changes later: a tmux server ends, the machine reboots.
// So a cause that was derived from it is recorded in the exit.
type Death struct {
	Rebooted   bool // the machine was started since
	Boot       time.Time
	ServerGone bool // the tmux server of the start has ended
	EntryLeft  bool // Claude's registry entry still exists: it was killed
}

func (o *Project) deathOf(r *agent.Record) Death {
	p := r.Process
	// Its terminals are hung up before a server that was killed is gone.
	d := Death{Rebooted: o.Machine.Rebooted(p.Identity), ServerGone: p.Tmux != nil && p.Tmux.ServerPID != 0 && o.Machine.HasEnded(p.ServerIdentity())}
	if d.Rebooted {
		d.Boot, _ = o.Machine.BootTime() // zero when unknown: then no end counts as near it
	}
	if config, err := claude.ConfigAt(r.ConfigDir); err == nil && p.Adopted != nil {
		entry, err := config.Registry().Entry(p.PID)
		d.EntryLeft = err == nil && entry.Is(p)
	}
	return d
}

// shutdownTime is how long before a boot an agent may have been ended by the shutdown that
// led to it.
const shutdownTime = 5 * time.Minute

// Why returns the cause and a detail, from the exit record, the boot and the tmux server. It claims only what was
// seen; without an exit record it claims little.
func (d Death) Why(r *agent.Record) (agent.Cause, string) {
	exit := r.ExitOf(r.Process.Invocation)
	switch {
	case r.Desired == agent.DesiredStopped:
		return agent.Stopped, ""
	case exit == nil:
		return d.whyVanished(r.Process)
	case exit.Cause != "":
		return exit.Cause, exit.Detail
	case exit.Error != "":
		return agent.NeverStarted, exit.Error
	case exit.OutOfMemory():
		return agent.OutOfMemory, exit.Summary()
	case d.endedByShutdown(exit):
		return agent.LostReboot, exit.Summary()
	case exit.HungUp && d.ServerGone:
		return agent.LostTmux, ""
	case exit.Code == 0 && !exit.HungUp && live.EndedAtPrompt(exit.EndReason):
		return agent.Exited, "a person ended it at its prompt"
	case exit.Code == 0 && !exit.HungUp:
		return agent.Exited, ""
	default:
		return agent.Crashed, exit.Summary()
	}
}

// whyVanished returns the cause of an end that no launcher recorded.
func (d Death) whyVanished(p *agent.Process) (agent.Cause, string) {
	switch {
	case d.Rebooted:
		return agent.LostReboot, ""
	case p.Adopted != nil:
		return d.whyAdoptedDead()
	case d.ServerGone:
		return agent.LostTmux, ""
	case p.PID == 0:
		return agent.NeverStarted, ""
	default:
		return agent.Crashed, "its launcher was killed, or could not write the record"
	}
}

// whyAdoptedDead returns the cause of the end of an adopted claude. No launcher waited for it, but its registry
// entry shows the cause: claude removes the entry when it exits by itself, and leaves it behind when it is killed.
func (d Death) whyAdoptedDead() (agent.Cause, string) {
	switch {
	case d.EntryLeft:
		return agent.Crashed, "it was killed, or crashed; it was adopted, so no launcher saw how"
	case d.ServerGone:
		return agent.LostTmux, "or it left by itself and its server ended with it: it was adopted, so no launcher saw it"
	default:
		return agent.Exited, "it was adopted, so no launcher saw how it ended, or whether it had switched to another conversation"
	}
}

// endedByShutdown reports whether an orderly shutdown of the machine ended claude: the launcher saw that claude was
// ended from outside, and could still record it.
func (d Death) endedByShutdown(exit *agent.Exit) bool {
	endedFromOutside := exit.HungUp || exit.Terminated() || exit.Signal != ""
	return d.Rebooted && endedFromOutside && !d.Boot.IsZero() && exit.At.After(d.Boot.Add(-shutdownTime))
}

// settles reports whether the cause can be recorded for good: it was derived from evidence that may change later,
// and that evidence is final now. A tmux server that is ending may live for seconds after its agents.
func (d Death) settles(r *agent.Record, now time.Time) bool {
	const serverEnds = 10 * time.Second
	exit := r.ExitOf(r.Process.Invocation)
	switch {
	case r.Desired == agent.DesiredStopped:
		return false
	case exit == nil:
		return r.Process.PID != 0 || d.Rebooted
	case exit.Cause != "" || exit.Error != "" || exit.OutOfMemory():
		return false
	default:
		return d.Rebooted || exit.HungUp && (d.ServerGone || now.Sub(exit.At) > serverEnds)
	}
}
