package live

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
)

// Details of an activity. The first two are also what the registry says a session waits for.
const (
	PermissionPrompt = "permission prompt"
	InputNeeded      = "input needed"
	compacting       = "compacting"
)

// Apply writes into a report what a hook says, which began at the given time. Hooks of one agent run in parallel: a
// hook that is older than the report's activity does not change it. A subagent's hook does not change the agent's
// activity either, with two exceptions: a question that holds up both, and signs that the question was answered.
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
		said = said && (!waiting || !h.leavesSubagents()) // a subagent that still runs may be asking
	}
	if h.Subagent == "" && h.Event != "SessionEnd" { // SessionEnd names the conversation that was left
		report.SessionID = h.SessionID
	}
	if h.Event == "UserPromptSubmit" && h.Subagent == "" && !report.IsInTurn() { // a message to a busy claude begins no turn
		report.Began = at
	}
	if said {
		report.Activity = &agent.Activity{State: state, Detail: detail, Hook: h.Event, At: at}
	}
}

// MovesTo returns the conversation to which the agent has moved by itself, and how, if the hook is the newest in the
// report. A start in another conversation than asked for does not count as a move.
func (h Hook) MovesTo(report *agent.Report, at time.Time) (id agent.SessionID, reason string, moves bool) {
	newest := report.SessionID == h.SessionID && report.Activity != nil && report.Activity.At.Equal(at)
	if h.Subagent != "" || !newest {
		return "", "", false
	}
	switch h.Event + " " + h.Source {
	case "SessionStart clear":
		return h.SessionID, "clear", true
	case "SessionStart fork": // in 2.1.329; in 2.1.197 it is a resume whose title ends with (Branch)
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

// leavesSubagents reports whether a turn has ended while subagents work on.
func (h Hook) leavesSubagents() bool {
	return h.Event == "Stop" && slices.ContainsFunc(h.Background, func(t task) bool { return t.Type == "subagent" })
}

// applyOutcome records how a turn or claude itself ended. A new prompt, a new start and a requested compaction clear
// the outcome of the turn before.
func (h Hook) applyOutcome(report *agent.Report, at time.Time) {
	outcome := report.Done
	if report.Failure != nil {
		outcome = report.Failure.At
	}
	newer := !at.Before(outcome)
	if newer {
		h.applyWords(report)
	}
	switch {
	case h.Event == "Stop" && newer:
		report.Failure, report.Done, report.Background = nil, at, len(h.Background)
	case h.Event == "StopFailure" && newer:
		report.Failure, report.Done = &agent.Failure{Class: h.Error, Text: human.Cut(h.Said, agent.FailureText, utf8.RuneLen), At: at}, time.Time{}
	case h.beginsTurn() && newer:
		report.Failure, report.Done = nil, time.Time{}
	case h.Event == "SessionEnd" && h.Reason != "clear" && h.Reason != "resume": // after clear and resume, claude goes on
		report.End = &agent.End{Reason: h.Reason, At: at}
	}
}

// applyWords records what was said last. Another conversation begins without words. Text that Claude itself puts into
// a conversation as a prompt is in tags, and is left out.
func (h Hook) applyWords(report *agent.Report) {
	words := agent.Words{SessionID: h.SessionID}
	if report.Words != nil && report.Words.SessionID == h.SessionID {
		words = *report.Words
	}
	switch {
	case h.Event == "Stop":
		words.Said = agent.ShortWords(h.Said)
	case h.Event == "UserPromptSubmit" && !strings.HasPrefix(h.Prompt, "<"):
		words.Prompt = agent.ShortWords(h.Prompt)
	case h.Event != "SessionStart":
		return
	}
	report.Words = nil
	if words.Prompt != "" || words.Said != "" {
		report.Words = &words
	}
}

// beginsTurn reports whether the outcome of the turn before no longer counts after the hook.
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

// activity returns what claude does after the hook; said is false when the hook does not show it.
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
		return agent.Busy, "", true // it goes on with the turn for which there was no room
	}
	return "", "", false
}
