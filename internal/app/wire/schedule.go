package wire

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/schedule"
)

// Schedule is what is run at certain times, and how far it came.
type Schedule struct {
	Name      string           `json:"name"`
	Key       string           `json:"key"`  // of its conversation
	When      string           `json:"when"` // a cron expression and its zone, or an interval
	Allowed   bool             `json:"allowed"`
	Missed    schedule.Missed  `json:"missed"`               // skip or once
	Overlap   schedule.Overlap `json:"overlap"`              // skip or queue
	SendTo    agent.Handle     `json:"send_to,omitempty"`    // it is a message to an agent
	Model     agent.Model      `json:"model,omitempty"`      // of a turn
	DeliverTo string           `json:"deliver_to,omitempty"` // the chat to which the answer goes
	Next      *time.Time       `json:"next"`
	LastFor   *time.Time       `json:"last_scheduled_for"` // null: it has not run yet
	LastBegan *time.Time       `json:"last_started_at"`
	Running   bool             `json:"running"`
	Waiting   *time.Time       `json:"waiting_for"` // the time whose run waits for the end of the last one
}

// NewSchedule converts an entry and how far it got.
func NewSchedule(e *schedule.Entry, last schedule.Last, next time.Time, allowed bool) Schedule {
	out := Schedule{
		Name: e.Name, Key: e.Key(), When: e.Times.String(), Allowed: allowed, Missed: e.Missed, Overlap: e.Overlap, Model: e.Model, DeliverTo: e.DeliverTo,
		Next: timeOf(next), LastFor: timeOf(last.ScheduledFor), LastBegan: timeOf(last.StartedAt), Running: last.Running(), Waiting: timeOf(last.Waiting),
	}
	if e.Send != nil {
		out.SendTo = e.Send.To
	}
	return out
}

// ScheduledRun is a run that is to come.
type ScheduledRun struct {
	Name string     `json:"name"`
	At   *time.Time `json:"at"`
	ID   string     `json:"id"` // by which it is run once
}

// NewScheduledRun converts a future run.
func NewScheduledRun(c schedule.Coming) ScheduledRun {
	return ScheduledRun{Name: c.Entry.Name, At: timeOf(c.At), ID: schedule.Due{Entry: c.Entry, ScheduledFor: c.At}.ID()}
}
