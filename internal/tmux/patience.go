package tmux

import (
	"sync"
	"time"

	"nbs-worker/internal/agent"
)

const (
	// wholePatience is how long one command waits in all for a tmux that is slow or gives
	// no answer, whatever it calls and whichever servers it asks.
	wholePatience = 4600 * time.Millisecond
	// longestWait is the wait for one call; of what is left, and is not reserved for those
	// that do answer, a server of which nothing is known gets only a share: the next may be
	// as silent.
	longestWait = 2400 * time.Millisecond
	reserve     = 600 * time.Millisecond
	share       = 0.6
	// leastWait is what a call is given at least: some ten times what an answer takes. A
	// server that is well must not pay for many that are not.
	leastWait = 150 * time.Millisecond
	// slow is an answer that counts as waited for. Under the load of many starts at once an
	// answer takes some hundred milliseconds.
	slow = time.Second
	// regained is how much of any time without such waiting comes back: a command that
	// takes minutes, for a hundred agents, meets with more than one that takes seconds.
	regained = 0.5
)

// patience is what one command has left of it.
type patience struct {
	mu      sync.Mutex
	spent   time.Duration
	waited  time.Duration // what was spent before anything came back
	counted time.Time     // up to when
}

// next is how long the next call may take; answers tells that its server gave an answer
// before.
func (p *patience) next(answers bool) wait {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := wholePatience - p.spentAt(time.Now())
	if !answers {
		limit = time.Duration(share * float64(limit-reserve))
	}
	return wait{limit: max(min(limit, longestWait), leastWait), before: p.waited}
}

// spend counts a call that was waited for. Of calls side by side only the time counts that
// passed.
func (p *patience) spend(begun time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if begun.Before(p.counted) {
		begun = p.counted
	}
	p.waited += now.Sub(begun)
	p.spent, p.counted = p.spentAt(begun)+now.Sub(begun), now
}

// spentAt is what is spent when nothing was waited for until then.
func (p *patience) spentAt(then time.Time) time.Duration {
	back := time.Duration(regained * float64(then.Sub(p.counted)))
	return max(p.spent-back, 0)
}

// wait is the wait for one call.
type wait struct {
	limit  time.Duration
	before time.Duration // that this command had waited until then
}

// err says that it was in vain.
func (w wait) err() error {
	const readable = 10 * time.Millisecond
	err := agent.Errorf(agent.TimedOut, "tmux gave no answer within %s", w.limit.Round(readable))
	if w.before >= slow {
		err = agent.Errorf(agent.TimedOut, "%w (%s went by in waiting for it before)", err, w.before.Round(10*readable))
	}
	return err.Hint("its server may still do what it was asked when it goes on")
}
