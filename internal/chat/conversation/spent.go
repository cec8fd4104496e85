package conversation

import (
	"fmt"
	"time"

	"nbs-worker/internal/claude/turn"
)

// classSpent is the class of a turn that is not run because the conversation has used up its money for the day.
const classSpent turn.Class = "daily_limit"

// Today returns the beginning of the day, on the clock of this machine.
func (e *Engine) Today() time.Time {
	now := e.Project.Now().In(time.Local)
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.Local)
}

// overspent returns why the turn is not run: its conversation has used up its money for the day. "": it is run.
func (j *job) overspent() string {
	spent := j.state.SpentSince(j.Today())
	if j.ask.DailyLimit == 0 || spent < j.ask.DailyLimit {
		return ""
	}
	return fmt.Sprintf("the limit of $%.2f a day is used up: $%.2f today", j.ask.DailyLimit, spent)
}
