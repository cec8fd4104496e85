// Package watch watches a team: it repairs what its policy permits, and notifies a person of what only a person can
// repair.
//
//   - It acts on signs: changed files and ended processes. It also looks at an agent that is not at rest by the
//     clock, because no sign shows that the agent makes no progress.
//   - It does one repair at a time, the mildest that works. Repairs are limited per hour, and per agent; an agent at
//     its limit is left alone. Three kinds of agents are never touched: one that works, one that a person has left,
//     and any agent in a paused project.
//   - Agents that end together with their tmux server are brought back beyond the limit of all agents. Their own limits
//     bound how often that is done.
//   - An agent that its launcher will start again is left to the launcher.
//   - Each action and notice is recorded before the watch goes on: after a kill, the next watch reads it.
//   - A person is notified of each thing once, until it changes. A failed notice stops nothing.
//
// Package recovery judges and repairs agents; this package decides whether and when.
package watch

import (
	"context"
	"maps"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/subscribe"
	"nbs-worker/internal/team/triage"
)

// Watch is one watch.
type Watch struct {
	Policy
	Team   Team
	Keeper Keeper
	Signs  Signs
	Teller Teller // nil: no notices
	Say    func(Action)

	state   State
	agents  map[string]*watchedAgent
	relist  bool
	paused  bool
	limited bool // the limit of repairs was reached, and reported
	sender  Sender
}

// watchedAgent is one watched agent, in the state in which it was last seen.
type watchedAgent struct {
	triage.Assessment
	handle     agent.Handle
	status     agent.Status
	session    agent.SessionID
	invocation agent.Invocation
	left       *int           // of its context, in percent; nil: unknown
	need       attention.Need // no reason: it needs no person
	spending   *agent.Spending
	holds      bool // its launcher does not start it again until a person has looked

	stale bool
	look  time.Time // when to look at it without a sign; zero: never
	rest  time.Time // when it may be repaired again: a repair has just failed
}

// settle is how long to wait for more signs after the first: one change touches several files.
const settle = time.Second

// Run watches until the context ends. Errors: Interrupted; the reason why it can no longer watch.
func (w *Watch) Run(ctx context.Context) error {
	memory, err := w.Keeper.LoadState()
	if err != nil {
		return err
	}
	w.state, w.agents, w.relist = memory, map[string]*watchedAgent{}, true
	for {
		w.checkPause() // notices are sent during a pause too, also of what is not repaired
		if err := w.look(ctx); err != nil {
			return err
		}
		told := w.tell(ctx)
		if ctx.Err() == nil && w.checkPause() && w.repairOne(ctx) || told {
			continue
		}
		if err := w.sleep(ctx); err != nil {
			return err
		}
	}
}

// checkPause reports whether the project is not paused, and reports each change of that. After a pause, it has all
// agents looked at again.
func (w *Watch) checkPause() bool {
	pause, err := w.Keeper.Paused()
	paused := pause != nil || err != nil
	switch {
	case paused && !w.paused && err != nil:
		w.say(DidPause, "", err.Error())
		w.pend(&watchedAgent{}, Paused, err.Error())
	case paused && !w.paused:
		w.say(DidPause, "", pause.Words())
		w.pend(&watchedAgent{}, Paused, pause.Words())
	case !paused && w.paused:
		w.say(DidUnpause, "", "")
		w.mark("")
	}
	w.paused = paused
	return !paused
}

func (w *Watch) say(word Word, handle agent.Handle, detail string) {
	w.Say(Action{At: time.Now(), Word: word, Handle: handle, Detail: detail})
}

// look judges the agents that have a sign, or whose time has come.
func (w *Watch) look(ctx context.Context) error {
	if err := w.list(); err != nil {
		return err
	}
	now := time.Now()
	w.state.forget(now)
	var due []agent.Handle
	for _, c := range w.agents {
		if c.stale || !c.look.IsZero() && !c.look.After(now) {
			c.stale, c.look = false, time.Time{}
			due = append(due, c.handle)
		}
	}
	if len(due) == 0 {
		return nil
	}
	slices.Sort(due)
	patients := w.Team.Look(ctx, due)
	if ctx.Err() != nil {
		return fail.Errorf(fail.Interrupted, "interrupted")
	}
	for i := range patients {
		if patients[i].View.Record.Handle == "" || patients[i].View.Lost { // it may have been dismissed
			w.relist = true
		}
		if c := w.agents[patients[i].Handle.Key()]; c != nil {
			c.update(&patients[i])
			c.look = w.nextLook(c, now)
			w.learn(c, now)
		}
	}
	_ = w.Keeper.SaveState(w.state) // on a full disk it goes on looking; before a repair this must succeed
	return nil
}

func (c *watchedAgent) update(p *recovery.Patient) {
	r := &p.View.Record
	c.Assessment, c.status, c.session, c.invocation, c.left = p.Assessment, p.View.Status, r.SessionID, "", nil
	c.need, c.spending, c.holds = attention.Need{}, p.View.Spending, r.Restarts.Hold != nil
	if p.Need != nil {
		c.need = *p.Need
	}
	if r.Process != nil {
		c.invocation = r.Process.Invocation
	}
	if use := p.View.Context; use != nil {
		c.left = new(use.LeftPercent())
	}
}

// list adds new agents, and removes those that are gone.
func (w *Watch) list() error {
	if !w.relist {
		return nil
	}
	handles, err := w.Team.Handles()
	if err != nil {
		return err
	}
	w.relist = false
	before := w.agents
	w.agents = map[string]*watchedAgent{}
	for _, handle := range handles {
		switch c := before[handle.Key()]; {
		case !w.covers(handle):
		case c != nil:
			w.agents[handle.Key()] = c
		default:
			w.agents[handle.Key()] = &watchedAgent{handle: handle, stale: true}
		}
	}
	maps.DeleteFunc(w.state.Told, func(key string, _ map[Kind]string) bool { return w.agents[key] == nil })
	return nil
}

// nextLook returns when an agent is looked at without a sign. An agent at rest is not: it cannot stop making
// progress, and its end, or a question to a person, gives a sign.
func (w *Watch) nextLook(c *watchedAgent, now time.Time) time.Time {
	const starting = 10 * time.Second // it may be at a dialog, which no file shows
	switch {
	case c.status.State == agent.Starting:
		return now.Add(min(starting, w.Every))
	case c.Working, c.Verdict == triage.Unknown, c.Verdict == triage.Stuck:
		return now.Add(w.Every)
	case c.Until.After(now):
		return c.Until
	case !c.Until.IsZero(): // its launcher now waits for another time
		return now.Add(w.Every)
	case c.needs(&w.Policy) && w.isQuarantined(c):
		return w.state.of(c.handle)[0].At.Add(window)
	case c.needs(&w.Policy) && c.rest.After(now):
		return c.rest
	}
	return time.Time{}
}

// mark has an agent looked at, and added if it is new; "": all agents, and new ones.
func (w *Watch) mark(handle agent.Handle) {
	if c := w.agents[handle.Key()]; c != nil {
		c.stale = true
		return
	}
	if handle != "" {
		w.relist = w.relist || w.covers(handle)
		return
	}
	w.relist = true
	for _, c := range w.agents {
		c.stale = true
	}
}

// isNoise reports whether a sign is the report of a working agent, which changes all the time: Claude's registry shows
// when the work ends.
func (w *Watch) isNoise(sign subscribe.Sign) bool {
	c := w.agents[sign.Handle.Key()]
	return sign.Report && c != nil && c.Working && c.status.Source == agent.FromRegistry
}

// sleep returns after a sign, or when something is due.
func (w *Watch) sleep(ctx context.Context) error {
	var alarm <-chan time.Time
	if at := w.wakeUp(); !at.IsZero() {
		alarm = time.After(time.Until(at))
	}
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return fail.Errorf(fail.Interrupted, "interrupted")
		case <-alarm:
			return nil
		case <-settled:
			return nil
		case sign, open := <-w.Signs.C():
			if !open {
				return w.Signs.Err()
			}
			if w.isNoise(sign) {
				continue
			}
			w.mark(sign.Handle)
			if settled == nil {
				settled = time.After(settle)
			}
		}
	}
}

// wakeUp returns the next time at which something is due; zero if nothing is due.
func (w *Watch) wakeUp() time.Time {
	var first time.Time
	earlier := func(at time.Time) {
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	for _, c := range w.agents {
		earlier(c.look)
	}
	if len(w.state.Pending) > 0 {
		earlier(w.sender.Next)
	}
	if w.paused {
		return first // no repair is due
	}
	if w.limited {
		earlier(w.state.counted()[0].At.Add(window))
	}
	return first
}
