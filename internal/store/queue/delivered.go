package queue

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
)

const (
	remembered    = 500 // entries of an agent that were delivered last
	deliveredSize = 64 << 10
)

// Deliver removes an entry that was delivered, and remembers that it was. Errors: as of [Queue.Remove].
func (q *Queue) Deliver(ctx context.Context, e Entry) error {
	return q.change(ctx, e, func() error {
		if err := q.remove(&e); err != nil {
			return err
		}
		what := e.ID
		if e.Typing != nil && e.Typing.File != "" {
			what += " " + filepath.Base(e.Typing.File)
		}
		all := append(q.lines(), what)
		_ = q.memory.HandOver(q.deliveredFile(), all[max(0, len(all)-remembered):], deliveredSize) // it counts only for an entry that has gone, or comes back
		return nil
	})
}

// TakeBack removes an entry that still waits: a deliverer that has read it does not type it then. It returns the entry
// as it is there. Errors: [fs.ErrNotExist] when it has gone.
func (q *Queue) TakeBack(ctx context.Context, e Entry) (now Entry, err error) {
	err = q.change(ctx, e, func() (err error) {
		if now, err = q.read(e.name); err == nil && now.State == Waiting {
			err = q.remove(&now)
		}
		return err
	})
	return now, err
}

// WasDelivered reports whether an entry that has gone was delivered. file is the name of the file with its text; "": the
// text was typed. Only the last entries are remembered.
func (q *Queue) WasDelivered(id string) (file string, was bool) {
	for _, what := range q.lines() {
		if known, file, _ := strings.Cut(what, " "); known == id {
			return file, true
		}
	}
	return "", false
}

// delivered returns the ids of what was delivered last.
func (q *Queue) delivered() []string {
	ids := q.lines()
	for i := range ids {
		ids[i], _, _ = strings.Cut(ids[i], " ")
	}
	return ids
}

// lines returns what was delivered last: ids, each with the name of its file if it has one.
func (q *Queue) lines() (all []string) {
	text, err := q.memory.Read(q.deliveredFile(), deliveredSize)
	if err == nil {
		_ = json.Unmarshal(text, &all) // what is unreadable counts as forgotten
	}
	return all
}

func (q *Queue) deliveredFile() string { return q.hash + "." + q.handle.Key() + ".json" }
