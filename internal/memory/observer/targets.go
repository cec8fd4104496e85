package observer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/spool"
)

// target is a conversation of an agent, or a session of a keyed conversation, that may have new text.
type target struct {
	record    agent.Record
	id        agent.SessionID
	announced []spool.Announcement // of it
}

// left reports whether the agent is in another conversation now.
func (t *target) left() bool { return t.id != t.record.SessionID }

// newest returns when the last end of a turn was announced, or zero if it was not announced.
func (t *target) newest() (at time.Time) {
	for _, a := range t.announced {
		if a.At.After(at) {
			at = a.At
		}
	}
	return at
}

// size returns the largest size that the transcript had when its hooks were called, in bytes.
func (t *target) size() (size int64) {
	for _, a := range t.announced {
		size = max(size, a.Size)
	}
	return size
}

// targets returns the announced conversations, and those with owed turns. With all, it adds the conversations that
// agents are in now, and those that were observed before. Announcements of other conversations are dropped in the
// end.
func (w *Worker) targets(ctx context.Context, all bool) (targets []target, err error) {
	waiting, err := w.Project.Store.Spool().List()
	if err != nil || len(waiting) == 0 && !all && len(w.owed) == 0 {
		return nil, err
	}
	for i := range waiting {
		if waiting[i].At.After(w.Project.Now().Add(hopeless)) { // an agent can write any time, and clocks are set back: it is not waited for
			waiting[i].At = time.Time{}
		}
	}
	names, err := w.names(all, waiting)
	if err != nil {
		return nil, err
	}
	for _, handle := range names {
		r, failure := w.load(handle)
		if _, is := handle.Conversation(); is && fail.KindOf(failure) == fail.NotFound {
			continue // an agent can announce what does not exist
		}
		if failure != nil { // what was announced of it is kept until its record can be read
			waiting = slices.DeleteFunc(waiting, func(a spool.Announcement) bool { return handle.Same(a.Handle) })
			if w.observes(handle) {
				err = errors.Join(err, failure)
			}
			continue
		}
		if !w.isOn(&r) {
			continue
		}
		for _, id := range sessions(&r) {
			t := target{record: r, id: id}
			waiting, t.announced = apart(waiting, &r, id)
			switch n := len(t.announced); {
			case !w.observes(handle):
				err = errors.Join(err, w.Project.Store.Spool().Take(t.announced[:max(0, n-1)]...)) // a worker for it needs no more than one
			case n > 0 || w.owed[id] || all && w.isKnown(ctx, &r, id):
				targets = append(targets, t)
			}
		}
	}
	maps.DeleteFunc(w.owed, func(id agent.SessionID, _ bool) bool {
		return !slices.ContainsFunc(targets, func(t target) bool { return t.id == id })
	})
	for _, a := range waiting {
		if w.Project.Now().Sub(a.At) > hopeless { // a younger one stays: its record may be about to move
			err = errors.Join(err, w.Project.Store.Spool().Take(a))
		}
	}
	return targets, err
}

// observes reports whether this worker observes an agent.
func (w *Worker) observes(handle agent.Handle) bool { return w.Handle == "" || handle.Same(w.Handle) }

// isOn reports whether an agent or a conversation is to be observed. A planted record does not count; the state of a
// conversation is sealed whole.
func (w *Worker) isOn(r *agent.Record) bool {
	if _, is := r.Handle.Conversation(); is {
		return r.Memory
	}
	allowed, _ := w.Project.Store.IsAllowed(r)
	return r.Memory && allowed
}

// isOnStill is isOn at this moment: while other agents are observed, the memory may be switched off or the agent
// dismissed.
func (w *Worker) isOnStill(t target) (bool, error) {
	r, err := w.load(t.record.Handle)
	if fail.KindOf(err) == fail.NotFound {
		return false, nil
	}
	return err == nil && w.isOn(&r) && slices.Contains(r.Conversations(), t.id), err
}

// apart divides the waiting announcements into those of a conversation and the others.
func apart(waiting []spool.Announcement, r *agent.Record, id agent.SessionID) (others, its []spool.Announcement) {
	for _, a := range waiting {
		if a.Handle == r.Handle && a.SessionID == id {
			its = append(its, a)
		} else {
			others = append(others, a)
		}
	}
	return others, its
}

// isKnown reports whether a conversation is checked without an announcement. A conversation that an agent left before
// its memory was switched on is not.
func (w *Worker) isKnown(ctx context.Context, r *agent.Record, id agent.SessionID) bool {
	if id == r.SessionID {
		return true
	}
	_, err := w.Memory.Observed(ctx, id)
	return err == nil
}

// transcript finds the transcript of a conversation. If there is no transcript, it was not written yet or is gone.
func (w *Worker) transcript(t target) (file transcript.File, found bool, err error) {
	config, err := w.Project.ConfigOf(&t.record)
	if err != nil {
		return file, false, err
	}
	return config.Transcript(t.id)
}
