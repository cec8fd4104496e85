package supervisor

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/proc"
)

// shutdownTime is how long before a boot an agent may have been ended by the shutdown that
// led to it.
const shutdownTime = 5 * time.Minute

// whyDead tells the cause from the exit record, the boot and the tmux server. What it says
// was seen: an end of which no launcher wrote is no more than that.
func whyDead(r *agent.Record) (agent.Cause, string) {
	exit := r.ExitOf(r.Process.Invocation)
	switch {
	case r.Desired == agent.DesiredStopped:
		return agent.Stopped, ""
	case exit == nil:
		return whyVanished(r)
	case exit.Error != "":
		return agent.NeverStarted, exit.Error
	case exit.OutOfMemory:
		return agent.OutOfMemory, exit.Summary()
	case endedByShutdown(r.Process, exit):
		return agent.LostReboot, exit.Summary()
	case exit.HungUp && tmuxLost(r.Process):
		return agent.LostTmux, ""
	case exit.Code == 0 && !exit.HungUp && claude.EndedAtPrompt(exit.EndReason):
		return agent.Exited, "somebody ended it at its prompt"
	case exit.Code == 0 && !exit.HungUp:
		return agent.Exited, ""
	default:
		return agent.Crashed, exit.Summary()
	}
}

// whyVanished is the cause of an end that nobody had the time to write down.
func whyVanished(r *agent.Record) (agent.Cause, string) {
	switch {
	case proc.Rebooted(r.Process.Identity):
		return agent.LostReboot, ""
	case r.Process.Adopted != nil:
		return whyAdoptedDead(r)
	case tmuxLost(r.Process):
		return agent.LostTmux, ""
	case r.Process.PID == 0:
		return agent.NeverStarted, ""
	default:
		return agent.Crashed, "its launcher was killed"
	}
}

func tmuxLost(p *agent.Process) bool {
	return p.Tmux != nil && p.Tmux.ServerPID != 0 && gone(p.ServerIdentity())
}

// endedByShutdown tells whether the machine went down in good order, so that the launcher
// saw claude being ended from outside and could still write it down.
func endedByShutdown(p *agent.Process, exit *agent.Exit) bool {
	if !proc.Rebooted(p.Identity) || !exit.HungUp && !exit.Terminated() && exit.Signal == "" {
		return false
	}
	boot, err := proc.BootTime()
	return err == nil && exit.At.After(boot.Add(-shutdownTime))
}

const (
	loopEnds   = 3
	loopUptime = 60 // seconds
)

// CrashLoop tells whether the agent's latest starts each crashed within a minute. One that
// was ended from outside, or by a person, was not tried.
func CrashLoop(r *agent.Record) bool {
	if len(r.Exits) < loopEnds {
		return false
	}
	for _, exit := range r.Exits[len(r.Exits)-loopEnds:] {
		if exit.Code == 0 || exit.HungUp || exit.Terminated() || exit.UptimeS > loopUptime {
			return false
		}
	}
	return true
}
