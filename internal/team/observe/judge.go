package observe

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine"
)

// A judgement uses these sources, in this order:
//
//  1. the kernel: whether the recorded process lives. A zombie does not;
//  2. Claude's registry, which is written at each change. It is contradicted in one thing
//     only: what it calls busy may be a wait for the next attempt, as the screen shows;
//  3. the hooks of this start, until they report its end. No hook runs when a person interrupts
//     a turn, so a screen that is understood comes before them;
//  4. the screen, which alone shows first-run dialogs;
//  5. for an agent that does not run: the exit that its launcher wrote down, then boot, tmux
//     server and what an earlier look found.

// Presence says whether the pane of an agent exists.
type Presence int

// The answers of tmux.
const (
	PaneUnasked Presence = iota
	PaneThere
	PaneAbsent
	PaneUnknown // tmux did not answer
)

// Evidence is what was seen of an agent at one moment.
type Evidence struct {
	Now           time.Time
	Claude        machine.Liveness // of the recorded process
	ClaudeErr     error            // why that is not known
	Ending        bool             // it was killed or is exiting, and is not gone yet
	LauncherLives bool
	Paused        bool           // the project is paused: nothing starts by itself
	BeingStarted  bool           // another command is starting it
	Entry         *live.Entry    // its entry in Claude's registry; nil: none
	Report        agent.Report   // what its hooks said in this start; empty: nothing
	Failure       *agent.Failure // of the last turn of this start; nil: it did not fail
	TurnDone      bool           // the last turn of this start ended well
	Screen        screen.Reading // Unknown: not read, or not understood
	Pane          Presence
	Death         Death // of a process that is gone
	Job           *Job  // of Slurm, in which it was started; nil: none, or it is seen from here

	// If the record identifies no process: the claudes that have its conversation open.
	Strangers    []Stranger
	StrangersErr error
}

// startTime is how long a claude counts as starting while no source reports on it.
const startTime = 30 * time.Second

// judge derives a status from the evidence, and the dialog at which a running agent waits.
func judge(r *agent.Record, e *Evidence) (agent.Status, screen.Dialog) {
	if r.Process != nil && e.Claude == machine.Alive {
		return e.running(r)
	}
	var status agent.Status
	if r.Process == nil {
		status = e.unidentified(r)
	} else {
		status = e.notRunning(r)
	}
	if status.State == agent.Dead && r.Unfinished() {
		status.Detail = r.HalfRenamed()
	}
	if status.State == agent.Dead && r.IsLeaving() {
		status.Detail = r.Leaves()
	}
	return status, ""
}

// leaving reports whether claude is about to end: it was killed, or a hook has reported its end.
func (e *Evidence) leaving() bool {
	return e.Claude == machine.Alive && (e.Ending || e.Entry == nil && e.Report.End != nil)
}

// unidentified judges a record of the original tools, whose bare pid proves nothing.
func (e *Evidence) unidentified(r *agent.Record) agent.Status {
	dead := agent.Status{State: agent.Dead, Source: agent.FromRecord}
	switch {
	case e.StrangersErr != nil:
		return agent.Status{State: agent.Unknown, Source: agent.FromRegistry, Detail: e.StrangersErr.Error()}
	case len(e.Strangers) > 0:
		return agent.Status{State: agent.Unknown, Source: agent.FromRegistry, Detail: fmt.Sprintf("pid %d has the conversation open; the record does not identify it", e.Strangers[0].PID)}
	case r.Desired == agent.DesiredStopped: // also one that was stopped, and moved here
		dead.Cause = agent.Stopped
	case r.PID == 0:
		dead.Cause = agent.NeverStarted
	default:
		dead.Cause, dead.Detail = agent.Crashed, "how it ended was not recorded"
	}
	return dead
}

// notRunning judges an agent whose process has ended, or may have ended.
func (e *Evidence) notRunning(r *agent.Record) agent.Status {
	starting := agent.Status{State: agent.Starting, Source: agent.FromRecord}
	switch {
	case e.BeingStarted && e.Claude == machine.Gone: // however the last start ended
		return starting
	case e.Job.isQueued():
		return e.queued(r)
	case r.ExitOf(r.Process.Invocation) != nil: // its own launcher saw it end: that holds wherever it ran
	case e.Claude == machine.Foreign:
		return e.elsewhere(r)
	case e.Claude == machine.Unsure:
		return agent.Status{State: agent.Unknown, Source: agent.FromProcess, Detail: e.ClaudeErr.Error()}
	case r.Process.PID != 0 && e.LauncherLives:
		return agent.Status{State: agent.Unknown, Source: agent.FromProcess, Detail: "it has just ended; its launcher is recording how"}
	case r.Process.PID != 0: // it ran, and its end was not recorded
	case e.LauncherLives, e.Pane == PaneThere:
		return starting
	case e.Pane == PaneUnknown:
		return agent.Status{State: agent.Unknown, Source: agent.FromRecord, Detail: "unknown: tmux did not answer, the start may still be in progress"}
	}
	cause, detail := e.Death.Why(r)
	dead := agent.Status{State: agent.Dead, Cause: cause, Detail: detail, Source: agent.FromProcess}
	if exit := r.ExitOf(r.Process.Invocation); exit != nil {
		dead.Since(exit.At, e.Now)
	}
	e.addRestart(r, &dead)
	return dead
}

// addRestart adds to the status of an agent that does not run what its restart policy will do.
func (e *Evidence) addRestart(r *agent.Record, dead *agent.Status) {
	what := ""
	switch kept := r.Restarts; {
	case r.LaunchDesired() == agent.DesiredStopped:
	case kept.Hold != nil:
		what = "held, " + kept.Hold.Reason
	case r.BacksOff() && e.LauncherLives:
		dead.State = agent.Backoff
		what = "starts again in " + max(0, kept.Next.Sub(e.Now)).Round(time.Second).String()
		if e.Paused {
			what = "starts again when the pause has ended"
		}
		if kept.After == agent.EndQuota {
			what = "waiting for a usage limit to end; it " + what
		}
	}
	if dead.Detail != "" && what != "" {
		what = "; " + what
	}
	dead.Detail += what
}

// running judges a live claude.
func (e *Evidence) running(r *agent.Record) (agent.Status, screen.Dialog) {
	status, known := e.registered()
	if !known {
		status, known = e.hooked()
	}
	if !known {
		status = e.unreported(r)
	}
	if e.Ending {
		status = agent.Status{Source: agent.FromProcess, State: agent.Unknown, Detail: "it was killed, or is exiting, and has not ended yet"}
	}
	status.SamePID = true
	var dialog screen.Dialog
	if !e.Ending {
		dialog = e.addScreen(&status)
		e.addReport(&status)
	}
	if !r.Started.IsZero() {
		status.Uptime = e.Now.UTC().Truncate(time.Second).Sub(r.Started)
	}
	return status, dialog
}

func (e *Evidence) registered() (status agent.Status, known bool) {
	if e.Entry == nil {
		return status, false
	}
	status = agent.Status{Source: agent.FromRegistry}
	switch e.Entry.Status {
	case live.StatusIdle:
		status.State = agent.Idle
	case live.StatusBusy:
		status.State = agent.Busy
	case live.StatusWaiting:
		status.State, status.Detail = agent.Waiting, e.Entry.WaitingFor
	default:
		return status, false
	}
	status.Since(e.Entry.StatusSince(), e.Now)
	return status, true
}

// hooked returns what the hooks of this start reported last.
func (e *Evidence) hooked() (status agent.Status, known bool) {
	activity := e.Report.Activity
	known = activity != nil && e.Report.End == nil && slices.Contains([]agent.State{agent.Idle, agent.Busy, agent.Waiting}, activity.State)
	if !known {
		return status, false
	}
	status = agent.Status{Source: agent.FromHooks, State: activity.State, Detail: activity.Detail}
	status.Since(activity.At, e.Now)
	return status, true
}

// unreported is the state when neither the registry nor a hook has reported one.
func (e *Evidence) unreported(r *agent.Record) agent.Status {
	status := agent.Status{Source: agent.FromProcess, State: agent.Starting}
	switch {
	case e.leaving():
		status.State, status.Detail = agent.Unknown, "it is exiting"
	case e.Now.Sub(r.Started) >= startTime:
		status.State, status.Detail = agent.Unknown, "it runs, and Claude's registry does not show its state: it may wait at a dialog"
	}
	return status
}

// NeedsScreen reports whether the screen may show more than the other sources.
func (e *Evidence) NeedsScreen() bool {
	if e.Claude != machine.Alive || e.Ending {
		return false
	}
	status, known := e.registered()
	return !known || status.State == agent.Busy || status.State == agent.Waiting
}

// addScreen replaces the status by that of the screen if the screen shows more, and returns its dialog.
func (e *Evidence) addScreen(status *agent.Status) screen.Dialog {
	reading := e.Screen
	understood := reading.State != agent.Unknown && reading.State != agent.Dead
	switch {
	case status.Source == agent.FromRegistry && status.State == agent.Busy && reading.State == agent.Retrying:
	case status.Source == agent.FromHooks && understood:
	case status.Source == agent.FromProcess && status.State == agent.Unknown && understood:
	case status.Source == agent.FromProcess && reading.State == agent.Waiting:
	default:
		return ""
	}
	status.State, status.Source = reading.State, agent.FromScreen
	status.Retry, status.Age = reading.Retry, new(time.Duration)
	status.Detail = string(reading.Trouble)
	if reading.Dialog != "" {
		status.Detail = reading.Dialog.Waits()
	}
	return reading.Dialog
}

// addReport adds what the registry does not show: why a busy agent is busy, how the last turn of an idle agent
// ended, and what still runs after that turn.
func (e *Evidence) addReport(status *agent.Status) {
	switch activity := e.Report.Activity; {
	case status.State == agent.Busy && status.Detail == "" && activity != nil && activity.State == agent.Busy:
		status.Detail = activity.Detail
	case status.State == agent.Idle && e.Failure != nil:
		status.State, status.Detail = agent.TurnFailed, failureWords(e.Failure.Class)
	case status.State == agent.Idle && status.Detail == "" && e.Report.Background > 0:
		status.Detail = human.Count(e.Report.Background, "background task")
	case status.State == agent.Idle && e.Screen.Trouble.FailsTurn() && status.Source == agent.FromScreen:
		status.State = agent.TurnFailed
	}
}

// failureWords returns Claude's class of an error in words: "invalid request".
func failureWords(class string) string {
	if class == "" {
		class = "unknown"
	}
	return strings.ReplaceAll(class, "_", " ")
}
