// Package journal keeps .nbs/journal.jsonl: what happened to each agent, on what evidence, one line
// for each event. Lines are only appended, never rewritten or removed.
//
//   - Each line is a link of a chain of SHA-256 sums (chain.go). The end of the chain is recorded
//     outside of the project (head.go). [Journal.Verify] finds a changed, removed or added line.
//   - A writer holds the journal's lock, locks/journal, from before it reads the end until it has
//     moved the head. It is the last in the order of locks: its holder takes no other.
//   - The line is synced, then the head is written. Readers take no lock; they leave a line that is
//     being written for the next read.
//   - A line that was cut short stays, and does no harm to what follows it.
//   - The lock file also shows that this .nbs had a journal. If a .nbs replaces an older one, its
//     journal begins with an event that says so.
//   - No secret is written, and no prompt but one that Claude has forgotten: it has no other copy.
//
// Each package that keeps records may append. No decision reads the journal, with one exception:
// the session id of an agent whose record is damaged.
package journal

import (
	"os"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

const (
	fileName   = "journal.jsonl"
	lockName   = "journal"
	eventLimit = 1 << 16 // bytes of a line
)

// Journal is the journal of one .nbs.
type Journal struct {
	nbs    *private.Folder
	heads  private.Tree // of the journals of all projects of the user
	name   string       // of this one's head there
	memory memory
}

// In returns the journal of a .nbs. A file of that name in heads records the end of its chain.
func In(nbs *private.Folder, heads private.Tree, name string) *Journal {
	return &Journal{nbs: nbs, heads: heads, name: name}
}

// Path returns the absolute path of the journal.
func (j *Journal) Path() string { return j.nbs.Path(fileName) }

// FirstSum returns the sum of the journal's first line, by which a project that was moved is recognised; "" if there is
// no line yet.
func (j *Journal) FirstSum() private.Sum {
	f, err := j.nbs.OpenRegular(fileName, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, err := readFrom(f, chain{}, 0).next()
	if err != nil || !line.whole || line.kind != link {
		return ""
	}
	return line.sum
}

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

	Over int         `json:"over,omitempty"` // number of lines before this one that are not links of the chain
	Prev private.Sum `json:"prev,omitempty"` // the sum of everything before this line
}

// EventOf returns an event about the agent of a record.
func EventOf(r *agent.Record, at time.Time, event, detail string) Event {
	done := Event{At: at, Event: event, Handle: r.Handle, SessionID: r.SessionID, PID: r.PID, Detail: detail}
	if r.Process != nil {
		done.Invocation = r.Process.Invocation
	}
	return done
}
