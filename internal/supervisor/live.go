package supervisor

import (
	"time"

	"nbs-worker/internal/agent"
)

// startTime is how long a claude of which nobody says anything counts as starting.
const startTime = 30 * time.Second

// liveStatus tells what a live process is doing: from Claude's registry, and where that
// does not say, from the hooks of this start. The registry is the better witness of the two:
// it is written at each change, and no hook runs when a person interrupts a turn.
func (s *Supervisor) liveStatus(r *agent.Record, witness witness) agent.Status {
	if status, known := s.registryStatus(r, witness); known {
		return status
	}
	if status, known := s.hookStatus(r); known {
		return status
	}
	status := agent.Status{SamePID: true, Source: agent.FromProcess, State: agent.Starting}
	if s.now().Sub(r.Started) >= startTime {
		status.State = agent.Unknown
		status.Detail = "it lives, and Claude's registry does not say what it does: it may wait at a dialog"
	}
	return status
}

func (s *Supervisor) registryStatus(r *agent.Record, witness witness) (status agent.Status, known bool) {
	live, err := witness.entry(r)
	if err != nil {
		return status, false
	}
	status = agent.Status{SamePID: true, Source: agent.FromRegistry, SessionID: live.SessionID}
	switch live.Status {
	case "idle":
		status.State = agent.Idle
	case "busy":
		status.State = agent.Busy
	case "waiting":
		status.State, status.Detail = agent.Waiting, live.WaitingFor
	default:
		return status, false
	}
	status.Since(live.StatusSince(), s.Now())
	return status, true
}

// hookStatus is what this start's hooks said last, as long as they did not say goodbye.
func (s *Supervisor) hookStatus(r *agent.Record) (status agent.Status, known bool) {
	report := s.Store.Report(r.Handle)
	if report.Invocation != r.Process.Invocation || report.Activity == nil || report.End != nil {
		return status, false
	}
	switch report.Activity.State {
	case agent.Idle, agent.Busy, agent.Waiting:
	default:
		return status, false
	}
	status = agent.Status{SamePID: true, Source: agent.FromHooks, State: report.Activity.State, Detail: report.Activity.Detail}
	status.Since(report.Activity.At, s.Now())
	return status, true
}
