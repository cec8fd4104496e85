package wire

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/store/conversations"
)

// Schedule is an entry of the schedules, and its progress.
type Schedule struct {
	Name      string            `json:"name"`
	Key       string            `json:"key"`  // of its conversation
	When      string            `json:"when"` // a cron expression and its zone, or an interval
	Allowed   bool              `json:"allowed"`
	Missed    schedule.Missed   `json:"missed"`               // skip or once
	Overlap   schedule.Overlap  `json:"overlap"`              // skip or queue
	SendTo    agent.Handle      `json:"send_to,omitempty"`    // the agent to which it sends a message
	Model     agent.Model       `json:"model,omitempty"`      // of a turn
	DeliverTo string            `json:"deliver_to,omitempty"` // the chat that gets the answer
	Rights                      // of a turn
	OnDenied  schedule.OnDenied `json:"on_denied,omitempty"` // what a refused tool makes of a run: answer, or fail
	Next      *time.Time        `json:"next"`
	LastFor   *time.Time        `json:"last_scheduled_for"` // null: it has not run yet
	LastBegan *time.Time        `json:"last_started_at"`
	Running   bool              `json:"running"`
	Held      *HeldRun          `json:"held"`        // why its last run waits; null: it does not
	Waiting   *time.Time        `json:"waiting_for"` // the time of a run that waits for the end of the last one
	Skipped   int               `json:"skipped"`     // later times that were skipped because the last run was not over
}

// HeldRun is why a run waits.
type HeldRun struct {
	Class  string     `json:"class"`
	Reason string     `json:"reason"`
	Until  *time.Time `json:"until"` // when it is tried again; null: a person decides
}

// NewSchedule converts an entry and its progress.
func NewSchedule(e *schedule.Entry, last schedule.Last, next time.Time, allowed bool, held *conversations.Held) Schedule {
	out := Schedule{
		Name: e.Name, Key: e.Key(), When: e.Times.String(), Allowed: allowed, Missed: e.Missed, Overlap: e.Overlap, Model: e.Model, DeliverTo: e.DeliverTo,
		Rights: newRights(e.Rights), OnDenied: e.OnDenied,
		Next: timeOf(next), LastFor: timeOf(last.ScheduledFor), LastBegan: timeOf(last.StartedAt), Running: last.Running(), Waiting: timeOf(last.Waiting), Skipped: last.Skipped,
	}
	if held != nil {
		out.Held = &HeldRun{held.Class, held.Reason, timeOf(held.Until)}
	}
	if e.Send != nil {
		out.SendTo = e.Send.To
	}
	return out
}

// ScheduledRun is a future run.
type ScheduledRun struct {
	Name string     `json:"name"`
	At   *time.Time `json:"at"`
	ID   string     `json:"id"` // its id, so that it runs only once
}

// NewScheduledRun converts a future run.
func NewScheduledRun(c schedule.Coming) ScheduledRun {
	return ScheduledRun{Name: c.Entry.Name, At: timeOf(c.At), ID: schedule.Due{Entry: c.Entry, ScheduledFor: c.At}.ID()}
}
