// Package triage judges how well an agent is, on what evidence, which level of repair it needs, and what to do next.
// It takes what is known of the agent and returns values. The caller chooses their wording and the commands that
// carry them out.
//
// The package is pure: it reads nothing and changes nothing.
package triage

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/inspect"
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
	MakeRoom     Step = "make-room"     // its turns are not written down
	LogIn        Step = "log-in"        // it runs, and the API does not know who it is
	LogInAfter   Step = "log-in-after"  // the same, once it is back
	ReadEnd      Step = "read-end"      // its last words: it failed again and again
	ResumeMended Step = "resume-mended" // once the reason for that is mended
	StartMended  Step = "start-mended"  // once the reason why it did not start is mended
	FindMemory   Step = "find-memory"   // find what uses the memory, or it will end like this again
	Resume       Step = "resume"        // bring it back
	Dismiss      Step = "dismiss"       // or forget it
	Interrupt    Step = "interrupt"     // its turn, which makes no progress
	Compact      Step = "compact"       // its conversation
	StartFresh   Step = "start-fresh"   // a new conversation, because the old one is full or gone
	ResumeForce  Step = "resume-force"  // end it first: its process exists and executes nothing
	Prompt       Step = "prompt"        // its last turn failed: tell it to go on
	FindFolder   Step = "find-folder"   // its working directory, or name another one
	AwaitReset   Step = "await-reset"   // wait until the usage limit ends
	Look         Step = "look"          // at what is unknown
)

// Known is what is known of an agent, and the limits by which it is judged.
type Known struct {
	*inspect.View

	Handle   agent.Handle // set also if the record cannot be read
	Now      time.Time
	Bands    agent.Bands
	Patience time.Duration // how long a busy agent may show no progress
}

// needsLogin reports whether the last turn failed because claude was not logged in, and claude has not been started
// and become ready since.
func (k *Known) needsLogin() bool {
	last, start := k.LastError, k.Record.Process
	if last == nil || last.Class != inspect.ClassAuthentication {
		return false
	}
	return start == nil || start.Ready.IsZero() || last.At.IsZero() || !last.At.Before(k.Record.Started)
}
