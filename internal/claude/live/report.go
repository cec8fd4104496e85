package live

import (
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
)

// Details of an activity. The first two are also what the registry says a session waits for.
const (
	PermissionPrompt = "permission prompt"
	InputNeeded      = "input needed"
	compacting       = "compacting"
)

// Apply writes into a report what a hook said, which began at the given time. Hooks of one
// agent run side by side: what is older than the report does not change it. What a hook
// says of a subagent is nothing of the agent's own, but for a question that holds them both,
// and what shows that it was answered.
func (h Hook) Apply(report *agent.Report, at time.Time) {
	if report.Activity != nil && at.Before(report.Activity.At) {
		h.applyOutcome(report, at)
		return
	}
	state, detail, said := h.activity()
	waiting := report.Activity != nil && report.Activity.State == agent.Waiting
	if h.Subagent != "" {
		said = said && (state == agent.Waiting || waiting)
	} else {
		h.applyOutcome(report, at)
		said = said && (!waiting || !h.leavesSubagents()) // it may be one of them that asks
	}
	if h.Subagent == "" && h.Event != "SessionEnd" { // which tells of the conversation that was left
		report.SessionID = h.SessionID
	}
	if said {
		report.Activity = &agent.Activity{State: state, Detail: detail, Hook: h.Event, At: at}
	}
}

// MovesTo tells into which conversation the agent has gone by itself, and how, when the hook
// is the newest in the report. A start that is in another than it was told is no such move.
func (h Hook) MovesTo(report *agent.Report, at time.Time) (id agent.SessionID, reason string, moves bool) {
	newest := report.SessionID == h.SessionID && report.Activity != nil && report.Activity.At.Equal(at)
	if h.Subagent != "" || !newest {
		return "", "", false
	}
	switch h.Event + " " + h.Source {
	case "SessionStart clear":
		return h.SessionID, "clear", true
	case "SessionStart fork": // as 2.1.329 has it; 2.1.197 names it as the title tells
		return h.SessionID, "branch", true
	case "SessionStart resume":
		if strings.HasSuffix(h.Title, " (Branch)") {
			return h.SessionID, "branch", true
		}
		return h.SessionID, "resume", true
	case "UserPromptSubmit ":
		return h.SessionID, Moved, true
	}
	return "", "", false
}

// leavesSubagents tells whether a turn has ended and subagents work on.
func (h Hook) leavesSubagents() bool {
	return h.Event == "Stop" && slices.ContainsFunc(h.Background, func(t task) bool { return t.Type == "subagent" })
}

// applyOutcome notes how a turn or claude itself ended. With the next prompt, a new start and a
// compaction that somebody asked for, the outcome of the turn before is history.
func (h Hook) applyOutcome(report *agent.Report, at time.Time) {
	outcome := report.Done
	if report.Failure != nil {
		outcome = report.Failure.At
	}
	newer := !at.Before(outcome)
	switch {
	case h.Event == "Stop" && newer:
		report.Failure, report.Done = nil, at
	case h.Event == "StopFailure" && newer:
		report.Failure, report.Done = &agent.Failure{Class: h.Error, Text: agent.Cut(h.Said, agent.FailureText), At: at}, time.Time{}
	case h.beginsTurn() && newer:
		report.Failure, report.Done = nil, time.Time{}
	case h.Event == "SessionEnd" && h.Reason != "clear" && h.Reason != "resume": // else claude goes on in another conversation
		report.End = &agent.End{Reason: h.Reason, At: at}
	}
}

// beginsTurn tells whether the outcome of the turn before does not count from the hook on.
func (h Hook) beginsTurn() bool {
	switch h.Event {
	case "UserPromptSubmit":
		return true
	case "SessionStart":
		return h.Source != "compact"
	case "PostCompact":
		return h.Trigger == "manual"
	}
	return false
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
			return agent.Waiting, InputNeeded, true
		}
		return agent.Waiting, PermissionPrompt, true
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
