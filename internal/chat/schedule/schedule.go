// Package schedule decides what of a project is to run when: turns of Claude and messages to agents
// by the clock, and resets of conversations.
//
//   - [Parse] reads a file that a person wrote, and reports all its mistakes at once. The reader of the
//     file checks that the user vouches for it, and for the files that it names; see [Entry.Words].
//   - [Plan] is pure: from the file, how far each entry came, and the time, it computes what is to be done.
//   - [Loop] does it. A run is written down before it is handed over, and is handed over again under the
//     same id after a crash, so that a restart neither skips nor repeats a run, if the [Runner] runs an
//     id once.
//   - When several times of an entry have passed, the last one alone counts.
//
// Other packages run the turns and messages; this one must not import them.
package schedule

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/schedules"
)

// File is what is to run when.
type File struct {
	Entries []*Entry // in the order of the file
	Resets  Resets
}

// Entry is a turn or a message that has its times.
type Entry struct {
	Name    string
	Line    int // of the file
	Times   Times
	Missed  Missed
	Overlap Overlap

	Send *Send // nil: it is a turn

	// Of a turn:
	Prompt       string
	PromptFile   string // instead of the prompt; within the project
	SystemPrompt string
	Model        agent.Model // "": Claude's choice
	DeliverTo    string      // the key of a chat, "telegram:1234"; "" for none
}

// Send is a message to an agent.
type Send struct {
	To   agent.Handle
	Text string
}

// Missed is what becomes of a time that passed while nothing ran.
type Missed string

// Overlap is what becomes of a time that comes before the last run is over.
type Overlap string

// The policies; the first of each is the default.
const (
	MissedSkip Missed = "skip"
	MissedOnce Missed = "once" // one run makes up for all that were missed

	OverlapSkip  Overlap = "skip"
	OverlapQueue Overlap = "queue" // one run waits; what comes while it does is skipped
)

// Key is the conversation of the entry: "cron:morning".
func (e *Entry) Key() string { return "cron:" + e.Name }

// Entry returns the entry of a name; nil for none.
func (f *File) Entry(name string) *Entry {
	for _, e := range f.Entries {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Due is a run that is to be handed over.
type Due struct {
	Entry        *Entry
	ScheduledFor time.Time // in UTC, of whole seconds
	Again        bool      // it was handed over before; how far it came is not known
}

// ID names the run: a [Runner] that is given the same id twice runs it once.
func (d Due) ID() string { return d.Entry.Key() + ":" + d.ScheduledFor.UTC().Format(time.RFC3339) }

// ByHand is a run that somebody asks for now, besides those of the times.
// Errors: NotFound.
func (f *File) ByHand(name string, now time.Time) (Due, error) {
	entry := f.Entry(name)
	if entry == nil {
		return Due{}, fail.Errorf(fail.NotFound, "there is no schedule %s", human.Quote(name)).
			Hint("to see which there are: nbs-worker schedule list")
	}
	return Due{Entry: entry, ScheduledFor: now.UTC().Truncate(time.Second)}, nil
}

// Last is how far an entry came.
type Last = schedules.Last

// grace is how late a run may begin and still not count as missed: the machine may have been busy.
const grace = time.Minute
