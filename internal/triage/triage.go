// Package triage says what is to be done next about an agent that is not as it should be. It is
// given what is known of the agent and gives values: how they are worded, and which command
// carries them out, is for who shows or does it.
//
// The package is pure: it looks at nothing and changes nothing.
package triage

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/observe"
)

// Step is one thing to do next.
type Step string

// The steps.
const (
	Answer       Step = "answer"        // the question that it asks
	Attend       Step = "attend"        // it waits for a person
	Allow        Step = "allow"         // its record, after a look at it
	EndOther     Step = "end-other"     // the other claude in its conversation
	LookAtDrift  Step = "look-at-drift" // what runs is not what is recorded
	LogIn        Step = "log-in"        // it runs, and the API does not know who it is
	LogInAfter   Step = "log-in-after"  // the same, once it is back
	ReadEnd      Step = "read-end"      // its last words: it ends again and again soon after its start
	ResumeMended Step = "resume-mended" // when the reason of that is gone
	StartMended  Step = "start-mended"  // when what kept it from starting is mended
	FindMemory   Step = "find-memory"   // what takes it, or it will end like this again
	Resume       Step = "resume"        // bring it back
	Dismiss      Step = "dismiss"       // or forget it
)

// Known is what is known of an agent.
type Known struct {
	*observe.Sight

	Strangers  bool // another claude has its conversation open
	Drifted    bool // what runs is not what is recorded
	NeedsLogin bool // its last turn failed because nobody is logged in
}

// Steps are what to do next, in order; none for an agent that is as it should be.
func Steps(k Known) []Step {
	switch {
	case k.Dialog != "":
		return []Step{Answer}
	case k.Status.State == agent.Waiting:
		return []Step{Attend}
	case k.Status.State == agent.Dead && k.IsNotAllowed():
		return []Step{Allow}
	case k.Status.State == agent.Dead:
		return afterDeath(k)
	case k.Strangers:
		return []Step{EndOther}
	case k.Drifted:
		return []Step{LookAtDrift}
	case k.Status.SamePID && k.NeedsLogin:
		return []Step{LogIn}
	}
	return nil
}

// afterDeath is by the cause: nearly always the way back, and what is to be done before or after
// it so that the agent does not end the same way.
func afterDeath(k Known) []Step {
	switch {
	case k.Record.LaunchDesired() != agent.DesiredRunning:
		return nil
	case observe.CrashLoop(&k.Record):
		return []Step{ReadEnd, ResumeMended}
	case k.Record.Restarts.Hold != nil:
		return []Step{ResumeMended}
	case k.Status.Cause == agent.NeverStarted && k.Status.Detail != "":
		return []Step{StartMended}
	case k.NeedsLogin:
		return []Step{Resume, LogInAfter}
	case k.Status.Cause == agent.OutOfMemory:
		return []Step{FindMemory, Resume}
	case k.Status.Cause == agent.Exited:
		return []Step{Resume, Dismiss}
	default:
		return []Step{Resume}
	}
}
