package supervisor

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/proc"
)

// readIfNeeded reads the screen of a live agent where it may tell more than the registry:
// that calls an agent busy that asks the API again and again, and is silent at a first-run
// dialog.
func (s *Supervisor) readIfNeeded(ctx context.Context, r *agent.Record) claude.Reading {
	unread := claude.Reading{State: agent.Unknown}
	if r.Process == nil || r.Process.PID == 0 {
		return unread
	}
	if liveness, _ := proc.Check(r.Process.Identity); liveness != proc.Alive {
		return unread
	}
	if status := s.liveStatus(r, s.closely()); status.Source == agent.FromRegistry && status.State != agent.Busy {
		return unread
	}
	screen, err := s.screen(ctx, r)
	if err != nil {
		return unread
	}
	return claude.ReadScreen(screen.Text)
}

// reportOf is what the hooks of a record's start said; empty when they said nothing.
func (s *Supervisor) reportOf(r *agent.Record) agent.Report {
	return believed(r, s.Store.Report(r.Handle))
}

// refine adds to a status what the screen shows and what the hooks said. The registry is
// contradicted in one thing only: what it calls busy may be a wait for the next attempt.
func (v *View) refine(reading claude.Reading, report agent.Report) {
	status := &v.Status
	if !status.SamePID {
		return
	}
	retries := reading.State == agent.Retrying
	switch {
	case status.Source == agent.FromRegistry && status.State == agent.Busy && retries,
		status.Source == agent.FromHooks && tells(reading), // no hook runs when a turn is interrupted
		status.Source == agent.FromProcess && status.State == agent.Unknown && tells(reading),
		status.Source == agent.FromProcess && reading.State == agent.Waiting:
		v.believe(reading)
	}
	activity := report.Activity
	switch {
	case activity == nil:
	case status.State == agent.Busy && activity.State == agent.Busy && status.Detail == "":
		status.Detail = activity.Detail
	case status.State == agent.Idle && activity.Hook == "StopFailure" && report.Failure != nil && status.Detail == "":
		status.Detail = "the last turn failed: " + report.Failure.Class
	}
}

// tells tells whether a screen shows what a live claude does.
func tells(reading claude.Reading) bool {
	return reading.State != agent.Unknown && reading.State != agent.Dead
}

// believe makes the screen the witness, as of now.
func (v *View) believe(reading claude.Reading) {
	v.Dialog = reading.Dialog
	v.Status.State, v.Status.Source = reading.State, agent.FromScreen
	v.Status.Retry, v.Status.Age = reading.Retry, new(time.Duration)
	switch {
	case reading.Dialog != "":
		v.Status.Detail = reading.Dialog.Waits()
	default:
		v.Status.Detail = string(reading.Trouble)
	}
}
