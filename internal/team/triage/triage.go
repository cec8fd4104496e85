// Package triage judges how well an agent is, on what evidence, which level of repair it needs, and
// what to do next about one that is not as it should be. It takes what is known of the agent and
// returns values: the caller chooses their wording and the commands that carry them out.
//
// The package is pure: it looks at nothing and changes nothing.
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
	ReadEnd      Step = "read-end"      // its last words: it ends again and again soon after its start
	ResumeMended Step = "resume-mended" // after the reason for that is gone
	StartMended  Step = "start-mended"  // when what kept it from starting is mended
	FindMemory   Step = "find-memory"   // what uses the memory, or it will end like this again
	Resume       Step = "resume"        // bring it back
	Dismiss      Step = "dismiss"       // or forget it
	Interrupt    Step = "interrupt"     // what it is at, which does not get on
	Compact      Step = "compact"       // its conversation
	StartFresh   Step = "start-fresh"   // a new conversation, for the old one is full or gone
	ResumeForce  Step = "resume-force"  // end it first: its process is there and executes nothing
	Prompt       Step = "prompt"        // its last turn failed: tell it to go on
	FindFolder   Step = "find-folder"   // where it worked, or name another one
	AwaitReset   Step = "await-reset"   // of the usage limit
	Look         Step = "look"          // what is unknown
)

// Known is what is known of an agent, and what it is judged by.
type Known struct {
	*inspect.View

	Handle   agent.Handle // also where the record cannot be read
	Now      time.Time
	Bands    agent.Bands
	Patience time.Duration // how long a busy agent may show nothing that grows
}

// needsLogin reports whether the last turn failed because nobody was logged in, and claude has not been
// started and become ready since.
func (k *Known) needsLogin() bool {
	last, start := k.LastError, k.Record.Process
	if last == nil || last.Class != inspect.ClassAuthentication {
		return false
	}
	return start == nil || start.Ready.IsZero() || last.At.IsZero() || !last.At.Before(k.Record.Started)
}
