// Package schedule decides what a project runs at which time: turns of Claude, messages to agents, and resets of
// conversations.
//
//   - [Parse] parses a file that a person wrote, and reports all mistakes at once. The file's reader checks that the
//     user has allowed the file and the files that it names; see [Entry.Words].
//   - [Plan] is pure. It computes what to do from the file, how far each entry got, and the time.
//   - [Loop] does it. A run is recorded before it is started. After a crash it is started again under the same ID. So a
//     restart neither skips nor repeats a run, if the [Runner] runs an ID once.
//   - When several times of an entry have passed, only the last one counts.
//
// Other packages run the turns and messages; this one must not import them.
package schedule

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/schedules"
)

// File is the content of a schedule file.
type File struct {
	Entries []*Entry // in file order
	Resets  Resets
}

// Entry is a turn or a message with its times.
type Entry struct {
	Name    string
	Line    int // in the file
	Times   Times
	Missed  Missed
	Overlap Overlap

	Send *Send // nil: the entry is a turn

	// For a turn:
	Prompt       string
	Command      bool   // Prompt is a command that Claude runs
	PromptFile   string // in place of Prompt; within the project
	SystemPrompt string
	Model        agent.Model // "": Claude's choice
	Enrich       bool        // see [conversations.Request]
	DeliverTo    string      // the key of a chat, "telegram:1234"; "": not delivered

	// Silence is how long claude may be silent in the turn; 0: the default; negative: without limit.
	Silence time.Duration

	Rights   conversations.Rights // what Claude may do; zero: as its settings say
	OnDenied OnDenied             // "": answer
}

// Send is a message to an agent.
type Send struct {
	To   agent.Handle
	Text string
}

// Missed is the policy for a time that passed while nothing ran.
type Missed string

// Overlap is the policy for a time that comes before the last run is over.
type Overlap string

// OnDenied says what a refused tool makes of a run.
type OnDenied string

// The policies; the first of each is the default.
const (
	DeniedAnswer OnDenied = "answer" // the answer says so
	DeniedFail   OnDenied = "fail"

	MissedSkip Missed = "skip"
	MissedOnce Missed = "once" // one run for all missed times

	OverlapSkip  Overlap = "skip"
	OverlapQueue Overlap = "queue" // one run waits; further ones are skipped until it starts
)

// Key returns the key of the entry's conversation: "cron:morning".
func (e *Entry) Key() string { return "cron:" + e.Name }

// Entry returns the entry with a name; nil if there is no such entry.
func (f *File) Entry(name string) *Entry {
	for _, e := range f.Entries {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Due is a run to start.
type Due struct {
	Entry        *Entry
	ScheduledFor time.Time // in UTC, of whole seconds; if the clock was set back since, plus a nanosecond each time
	Again        bool      // it was started before; its progress is unknown
}

// ID returns the run's ID. A [Runner] runs each ID once.
func (d Due) ID() string {
	return d.Entry.Key() + ":" + d.ScheduledFor.UTC().Format(time.RFC3339Nano)
}

// ByHand returns a run on request, outside the entry's times. Errors: NotFound.
func (f *File) ByHand(name string, now time.Time) (Due, error) {
	entry := f.Entry(name)
	if entry == nil {
		return Due{}, fail.Errorf(fail.NotFound, "there is no schedule %s", human.Quote(name)).
			Hint("to see which there are: nbs-worker schedule list")
	}
	return Due{Entry: entry, ScheduledFor: now.UTC().Truncate(time.Second)}, nil
}

// Last is how far an entry got.
type Last = schedules.Last

// grace is how late a run may begin without counting as missed: the machine may have been busy, and a loop notices only
// after [lookEvery] that it was suspended.
const grace = 2 * time.Minute
