// Package queue keeps what waits to be written to an agent: durable entries, first in, first out,
// below .nbs/outbox.
//
//   - An entry is a file of its own, and its name its place in the order. It is written under the lock
//     of the agent's outbox, and replaced atomically.
//   - What lies there decides nothing by itself: an entry counts with the user's seal over all that is
//     in it, the project and the agent included.
//   - The state is written down before anything is typed. An entry that the holder of the right to
//     deliver finds [Sending] was left by a process that was killed.
//
// The package knows files and seals. It types nothing, and must not import what does.
package queue

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/google/uuid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/trust"
)

// Folder is where the entries of all agents are, below .nbs.
const Folder = "outbox"

// State is how far an entry is.
type State string

// The states.
const (
	Waiting State = "waiting" // for the agent to be ready
	Sending State = "sending" // a process is about to type it
	Unknown State = "unknown" // it was submitted, and there is no proof
	Failed  State = "failed"  // it cannot be typed to this agent
)

// Entry is a message that is kept.
type Entry struct {
	ID      string       `json:"id"`
	Handle  agent.Handle `json:"handle"`
	From    string       `json:"from,omitempty"` // the envelope, with which the text begins; "": a person's words
	Text    string       `json:"text"`
	ByFile  bool         `json:"by_file,omitempty"`
	Created time.Time    `json:"created"`
	State   State        `json:"state"`
	Tries   int          `json:"tries"`
	Reason  string       `json:"reason,omitempty"` // of the last try
	Typing  *Typing      `json:"typing,omitempty"` // of Sending and Unknown
	Seal    string       `json:"seal"`

	name string
}

// Typing records where an entry was typed, so that its arrival can be checked later.
type Typing struct {
	SessionID agent.SessionID `json:"session_id"`
	Bytes     int64           `json:"bytes"` // that the transcript had before
	Typed     string          `json:"typed"`
	Channel   string          `json:"channel"`
	File      string          `json:"file,omitempty"` // that holds the text
}

// Pending reports whether an entry is still to be delivered.
func (e *Entry) Pending() bool { return e.State == Waiting || e.State == Sending }

const (
	most       = 100     // waiting entries of an agent, and as many failed ones
	entryLimit = 8 << 20 // bytes; a text has at most one million, and each may be escaped
)

// Queue is the outbox of one agent.
type Queue struct {
	nbs    *sealed.Folder
	handle agent.Handle
	memory private.Tree // remembers what was delivered; outside of the project
	hash   string       // of the project, in that tree
	takes  func() error // reports why the agent takes no more messages
}

// In returns the outbox of an agent in the .nbs folder of a project. The ids of delivered entries are kept in
// memory, a tree outside of the project, where hash stands for the project. takes returns why the agent takes no more
// messages, or nil; it is asked under the lock.
func In(nbs *sealed.Folder, handle agent.Handle, memory private.Tree, hash string, takes func() error) *Queue {
	return &Queue{nbs: nbs, handle: handle, memory: memory, hash: hash, takes: takes}
}

// Add puts an entry behind all others. If too many entries failed, it removes the oldest of those. Errors:
// Conflict when too many wait, or the agent takes none; NotFound when the agent is gone.
func (q *Queue) Add(ctx context.Context, e Entry) (Entry, error) {
	if err := q.nbs.Prepare(); err != nil {
		return e, err
	}
	unlock, err := q.lock(ctx)
	if err != nil {
		return e, err
	}
	defer unlock()
	if err := q.takes(); err != nil {
		return e, err
	}
	all, err := q.Entries()
	if err != nil {
		return e, err
	}
	alike := slices.DeleteFunc(slices.Clone(all), func(other Entry) bool { return other.Pending() != e.Pending() })
	switch {
	case len(alike) < most:
	case e.Pending():
		return e, fail.Errorf(fail.Conflict, "%d messages are already waiting for it", most).
			Hint("to see them: nbs-worker outbox list %s", q.handle)
	default:
		err = q.remove(&alike[0])
	}
	if err != nil {
		return e, err
	}
	e.ID, e.Handle, e.name = uuid.NewString(), q.handle, q.file(1)
	if len(all) > 0 {
		last := all[len(all)-1].name
		place, _ := q.place(last)
		if place == lastPlace { // adding one after the other never comes so far
			return e, fail.Errorf(fail.Conflict, "%s has the last number; no message can follow it", q.nbs.Label(Folder+"/"+last)).
				Hint("look at it, then remove it: rm %s", human.ShellWord(q.nbs.Path(Folder, last)))
		}
		e.name = q.file(place + 1)
	}
	return e, q.write(&e)
}

// Put replaces an entry with its new state. Errors: [fs.ErrNotExist] when it was dropped.
func (q *Queue) Put(ctx context.Context, e Entry) error {
	return q.change(ctx, e, func() error { return q.write(&e) })
}

// Remove removes an entry. Errors: [fs.ErrNotExist] when it was removed already.
func (q *Queue) Remove(ctx context.Context, e Entry) error {
	return q.change(ctx, e, func() error { return q.remove(&e) })
}

// change does something to an entry that is still there.
func (q *Queue) change(ctx context.Context, e Entry, do func() error) error {
	unlock, err := q.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	now, err := q.read(e.name)
	if err != nil {
		return err
	}
	if now.ID != e.ID {
		return fs.ErrNotExist
	}
	return do()
}

// Clear removes all entries, and returns them.
func (q *Queue) Clear(ctx context.Context) (gone []Entry, err error) {
	names, err := q.names()
	if err != nil || len(names) == 0 { // with nothing to remove, nothing need be writable
		return nil, err
	}
	unlock, err := q.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, err := q.Entries()
	if err != nil {
		return nil, err
	}
	return q.removeAll(all)
}

// removeAll removes entries, and returns the removed ones. When one cannot be removed, the others still are.
func (q *Queue) removeAll(all []Entry) (gone []Entry, err error) {
	for _, e := range all {
		if failed := q.remove(&e); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		gone = append(gone, e)
	}
	return gone, err
}

// Entries returns the agent's entries in order. Beside an error it returns those that can be read.
func (q *Queue) Entries() (all []Entry, broken error) {
	names, err := q.names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		e, err := q.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was delivered since the listing
		}
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		all = append(all, e)
	}
	return all, broken
}

// Newest returns the name of the newest entry, or "" if the outbox is empty.
func (q *Queue) Newest() string {
	names, _ := q.names()
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1]
}

// Due returns the name of the newest entry that is still to be delivered, or "". If an entry is damaged, it
// returns the newest entry of all: the delivery then reports the damage.
func (q *Queue) Due() string {
	all, err := q.Entries()
	if err != nil {
		return q.Newest()
	}
	for _, e := range slices.Backward(all) {
		if q.IsDue(&e) {
			return e.name
		}
	}
	return ""
}

// IsDue reports whether an entry is still to be delivered. It needs the user's seal. An entry that was
// delivered, and came back from a backup, is not due.
func (q *Queue) IsDue(e *Entry) bool {
	return e.Pending() && q.CheckSeal(e) == nil && !slices.Contains(q.delivered(), e.ID)
}

// AwaitTurn takes the right to deliver the entries. It waits for another holder until late, or without limit
// if late is zero. unlock is nil if the other still has it then.
func (q *Queue) AwaitTurn(ctx context.Context, late time.Time) (unlock func(), err error) {
	name := q.handle.Key() + ".deliver"
	if unlock, err = q.nbs.TryLock(name); unlock != nil || err != nil {
		return unlock, err
	}
	if !late.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, late)
		defer cancel()
	}
	unlock, err = q.nbs.Await(ctx, name)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, nil //nolint:nilnil // nothing failed, and nothing was taken
	}
	return unlock, err
}

// Hold keeps others from adding or changing entries until unlock is called. It must not take long.
func (q *Queue) Hold(ctx context.Context) (unlock func(), err error) {
	if err := q.nbs.Prepare(); err != nil {
		return nil, err
	}
	return q.lock(ctx)
}

func (q *Queue) lock(ctx context.Context) (unlock func(), err error) {
	return q.nbs.Lock(ctx, q.handle.Key()+".outbox")
}

// CheckSeal checks that the user has sealed an entry with this content, for this agent of this project.
// Errors: Held when it is not sealed; Unfit when the key cannot be used; Failed when the key cannot be read
// now.
func (q *Queue) CheckSeal(e *Entry) error {
	err := q.nbs.Check(entryOf{e, q.handle})
	if errors.Is(err, trust.ErrSeal) {
		return fail.Errorf(fail.Held, "the message is not allowed: no command of this user wrote it for this agent of this project").
			HintsOf(err).
			Hint("look at it, and send it yourself or drop it: nbs-worker outbox drop %s %s", q.handle, human.ShellWord(e.ID))
	}
	return err
}

// entryOf is the sealed form of an entry: the entry with its agent.
type entryOf struct {
	*Entry
	of agent.Handle
}

func (e entryOf) Sealed(project string) sealed.Over {
	content := *e.Entry
	content.Seal = ""
	return sealed.Over{Kind: Folder, Seal: &e.Seal, Content: struct {
		Project, Handle string
		Entry           Entry
	}{project, e.of.Key(), content}}
}
