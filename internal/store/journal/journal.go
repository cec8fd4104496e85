// Package journal keeps .nbs/journal.jsonl: what happened to which agent, on what evidence, a
// line an event. It is appended to and never rewritten, and nothing is removed from it.
//
//   - Each line is a link of a chain of SHA-256 sums (chain.go), and where the chain ends is said
//     outside of the project (head.go): [Journal.Verify] finds a changed, removed or added line.
//   - Who appends holds the journal's lock, locks/journal, from before the look at the end until the
//     head is moved. It is the last in the order of locks: who holds it takes no other.
//   - The line is synced, then the head is written. Readers take no lock; what is just being
//     written is left for the next look.
//   - A line that was cut short stays, and does no harm to what follows it.
//   - The lock file is also the sign that this .nbs had a journal: a .nbs that was made anew in the
//     place of another begins its journal with an event that says so.
//   - No secret is written, and no prompt but one that Claude has forgotten: it is kept nowhere else.
//
// Anybody who keeps records may append; nobody reads the journal to decide what to do, but for
// the session id of an agent whose record is damaged.
package journal

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

const (
	fileName   = "journal.jsonl"
	lockName   = "journal"
	eventLimit = 1 << 16 // bytes of a line
)

// Journal is that of one .nbs.
type Journal struct {
	nbs    *private.Folder
	heads  private.Tree // of the journals of all projects of the user
	name   string       // of this one's head there
	memory memory
}

// In is the journal of a .nbs. Where its chain ends is said in a file of that name in heads.
func In(nbs *private.Folder, heads private.Tree, name string) *Journal {
	return &Journal{nbs: nbs, heads: heads, name: name}
}

// Path is the absolute path of the journal.
func (j *Journal) Path() string { return j.nbs.Path(fileName) }

// Event is one line of the journal: what was done to whom, on what evidence. It
// holds no secret.
type Event struct {
	At         time.Time        `json:"at"`
	Event      string           `json:"event"` // "spawn", "start", "exit", "resume", "stop", "dismiss", "moved", "failed" ...
	Handle     agent.Handle     `json:"handle"`
	SessionID  agent.SessionID  `json:"session_id"`
	Invocation agent.Invocation `json:"invocation,omitempty"`
	PID        int              `json:"pid,omitempty"`
	Detail     string           `json:"detail,omitempty"`

	Over int         `json:"over,omitempty"` // how many lines before this one are no links of the chain
	Prev private.Sum `json:"prev,omitempty"` // the sum of what stands before this line
}

// EventOf is what was done to the agent of a record.
func EventOf(r *agent.Record, at time.Time, event, detail string) Event {
	done := Event{At: at, Event: event, Handle: r.Handle, SessionID: r.SessionID, PID: r.PID, Detail: detail}
	if r.Process != nil {
		done.Invocation = r.Process.Invocation
	}
	return done
}
