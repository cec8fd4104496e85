package claude

import (
	"time"

	"nbs-worker/internal/agent"
)

// Details of an activity.
const (
	permissionPrompt = "permission prompt"
	inputNeeded      = "input needed"
	compacting       = "compacting"
)

// Apply writes into a report what a hook said, which began at the given time. Hooks of one
// agent run side by side: what is older than the report does not change it. What a hook
// says of a subagent is nothing of the agent's own, but for a question that holds them both.
func (h Hook) Apply(report *agent.Report, at time.Time) {
	if h.Subagent != "" && h.Event != "PermissionRequest" {
		return
	}
	h.applyOutcome(report, at)
	if report.Activity != nil && at.Before(report.Activity.At) {
		return
	}
	if h.Subagent == "" && h.Event != "SessionEnd" { // which tells of the conversation that was left
		report.SessionID = h.SessionID
	}
	if state, detail, said := h.activity(); said {
		report.Activity = &agent.Activity{State: state, Detail: detail, Hook: h.Event, At: at}
	}
}

// applyOutcome notes how a turn or claude itself ended.
func (h Hook) applyOutcome(report *agent.Report, at time.Time) {
	newer := report.Failure == nil || !at.Before(report.Failure.At)
	switch {
	case h.Event == "Stop" && newer:
		report.Failure = nil
	case h.Event == "StopFailure" && newer:
		report.Failure = &agent.Failure{Class: h.Error, At: at}
	case h.Event == "SessionEnd" && h.Reason != "clear" && h.Reason != "resume": // else claude goes on in another conversation
		report.End = &agent.End{Reason: h.Reason, At: at}
	}
}

// activity is what claude does from the hook on. Of some nothing can be said.
func (h Hook) activity() (state agent.State, detail string, said bool) {
	switch h.Event {
	case "SessionStart":
		return agent.Idle, "", h.Source != "compact" // which comes in the midst of a compaction
	case "Stop", "StopFailure":
		return agent.Idle, "", true
	case "UserPromptSubmit", "PostToolUse", "PostToolUseFailure":
		return agent.Busy, "", true
	case "PermissionRequest":
		if h.Tool == "AskUserQuestion" {
			return agent.Waiting, inputNeeded, true
		}
		return agent.Waiting, permissionPrompt, true
	case "Notification":
		return agent.Idle, "", h.Notification == "idle_prompt"
	case "PreCompact":
		return agent.Busy, compacting, true
	case "PostCompact":
		if h.Trigger == "manual" {
			return agent.Idle, "", true
		}
		return agent.Busy, "", true // of the turn before which there was no room
	}
	return "", "", false
}
