package requests

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

// Waiting is an open request, for its hook.
type Waiting struct {
	Request

	drawer *Drawer
	lock   *os.File
}

// Open opens a request under a new id. The caller closes it.
func (d *Drawer) Open(r Request) (*Waiting, error) {
	r.ID = strings.ReplaceAll(string(agent.NewInvocation()), "-", "")[:8]
	lock, err := d.tree.TryLock(r.ID + lockEnd)
	if err != nil {
		return nil, err
	}
	if lock == nil {
		return nil, fail.Errorf(fail.Conflict, "another request has the id %s", r.ID)
	}
	w := &Waiting{Request: r, drawer: d, lock: lock}
	if err := d.tree.HandOver(r.ID+requestEnd, r, limit); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// AnswerFile returns the file that comes to be with an answer.
func (w *Waiting) AnswerFile() string { return w.drawer.tree.Path(w.ID + answerEnd) }

// Answer returns the answer; false if it has not come yet.
func (w *Waiting) Answer() (Answer, bool, error) {
	a, err := w.drawer.answer(w.ID + answerEnd)
	if errors.Is(err, fs.ErrNotExist) {
		return Answer{}, false, nil
	}
	return a, err == nil, err
}

// Take notes that claude has the answer.
func (w *Waiting) Take(a Answer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return w.drawer.tree.HandOverText(w.ID+takenEnd, text)
}

// Close ends the request: an answer that was not taken counts for nothing. It stays for a day, as after a kill.
func (w *Waiting) Close() {
	_ = w.drawer.tree.Remove(w.ID+requestEnd, w.ID+overEnd, w.ID+lockEnd)
	_ = w.lock.Close()
}

// IsOver reports whether [Drawer.End] was called for the request.
func (w *Waiting) IsOver() bool {
	_, err := w.drawer.tree.Stat(w.ID + overEnd)
	return err == nil
}

// Others reports whether other requests of the same claude are open.
func (w *Waiting) Others() bool {
	open, err := w.drawer.List()
	return err == nil && slices.ContainsFunc(open, func(r Request) bool {
		return r.ID != w.ID && r.Invocation == w.Invocation && r.Claude == w.Claude
	})
}

// End tells the hooks of requests that their claude goes on without an answer of ours.
func (d *Drawer) End(is func(*Request) bool) error {
	open, err := d.List()
	for i := range open {
		if is(&open[i]) {
			err = errors.Join(err, d.tree.HandOverText(open[i].ID+overEnd, nil))
		}
	}
	return err
}
