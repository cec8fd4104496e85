package matrix

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// acks records up to which place all events are taken.
type acks struct {
	keep func(Progress)
	now  func() time.Time

	mu       sync.Mutex
	progress Progress
	open     []*taking
}

// taking is a batch of events that are being taken.
type taking struct {
	next string // the place behind it
	left int    // events that are not taken yet
}

// begin returns the place from which an account goes on; "" if it begins.
func (a *acks) begin(account, session string) (since string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.progress.Account != account {
		a.progress = Progress{}
	}
	a.progress.Account, a.progress.Session = account, session
	return a.progress.Since
}

// add adds a batch with events, and returns what is to be called once for each of them, when it is taken.
func (a *acks) add(next string, events int) (done []func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := &taking{next, events}
	a.open = append(a.open, t)
	for range events {
		done = append(done, sync.OnceFunc(func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			t.left--
			a.advance()
		}))
	}
	a.advance()
	return done
}

// advance records the place up to which all is taken. The lock is held, which keeps the places in order.
func (a *acks) advance() {
	since := a.progress.Since
	for len(a.open) > 0 && a.open[0].left == 0 {
		since = a.open[0].next
		a.open = a.open[1:]
	}
	if since != a.progress.Since {
		a.progress.Since, a.progress.At = since, a.now().UTC()
		a.keep(a.progress)
	}
}

// note records that a room was told that it is encrypted.
func (a *acks) note(room string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.progress.Noted = append(slices.Clone(a.progress.Noted), room)
	a.keep(a.progress)
}

// isNoted reports whether a room was told that it is encrypted.
func (a *acks) isNoted(room string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.progress.Noted, room)
}

// invited records an invitation that was not accepted; with by "" that it is over.
func (a *acks) invited(room, by string) {
	const most = 100 // anyone can invite
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.progress.Invited[room] == by || by != "" && len(a.progress.Invited) >= most {
		return
	}
	a.progress.Invited = maps.Clone(a.progress.Invited)
	if a.progress.Invited == nil {
		a.progress.Invited = map[string]string{}
	}
	a.progress.Invited[room] = by
	if by == "" {
		delete(a.progress.Invited, room)
	}
	a.keep(a.progress)
}

// invitations returns those that were not accepted.
func (a *acks) invitations() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.progress.Invited
}

// keep records the progress. If it cannot be recorded, events come again after the next start, and are known.
func (s *System) keep(p Progress) {
	if err := s.Keep(p); err != nil {
		s.lines.Once(err.Error())
	}
}
