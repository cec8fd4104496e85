// Package vigil watches over a team: it repairs what its policy permits, and tells a person what
// only a person can mend.
//
//   - It acts on signs: files that change, processes that end. The clock has an agent looked at that
//     is not at rest, since nothing tells when one stops getting on.
//   - One repair at a time, the least that helps; at most so many an hour, and so many of one agent,
//     which is left alone then. What works is never touched, nor what a person has left or paused.
//   - What a tmux server takes down with it is charged to that server, and not to the agents.
//   - What the launcher of an agent starts again, it leaves to the launcher.
//   - What it has done and told is written down before it goes on: a watch that was killed knows it.
//   - A person is told each thing once until it has changed. That nobody can be told stops nothing.
//
// How an agent is judged and repaired is for package recovery; this one decides whether and when.
package vigil

import (
	"context"
	"maps"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/recovery"
	"nbs-worker/internal/triage"
)

// Vigil is one watch.
type Vigil struct {
	Policy
	Team   Team
	Desk   Desk
	Signs  Signs
	Teller Teller // nil: nobody is told
	Say    func(Deed)

	memory   Memory
	charges  map[string]*charge
	relist   bool
	paused   bool
	limited  bool      // that no more repairs are permitted now was said
	deaf     bool      // that nobody can be told was said
	tellNext time.Time // when telling is tried again
}

// charge is one agent that is watched, as it was seen last.
type charge struct {
	triage.Assessment
	handle     agent.Handle
	status     agent.Status
	session    agent.SessionID
	invocation agent.Invocation
	left       *int             // of its context, in percent; nil: not known
	tmux       *agent.TmuxPlace // of its last start; nil: none
	started    time.Time
	ended      time.Time // as was written down; zero: it was not
	holds      bool      // its launcher starts it no more before a person has looked

	stale bool
	look  time.Time // when it is looked at though nothing happened; zero: never
	rest  time.Time // until when it is not repaired: a repair has just failed
}

// settle is how long a sign is waited upon for more: what changes, changes in several files.
const settle = time.Second

// Run watches until the context ends. Errors: Interrupted; what keeps it from seeing.
func (v *Vigil) Run(ctx context.Context) error {
	memory, err := v.Desk.Recall()
	if err != nil {
		return err
	}
	v.memory, v.charges, v.relist = memory, map[string]*charge{}, true
	for {
		if v.mayAct() {
			if err := v.look(ctx); err != nil {
				return err
			}
			if v.tellOne(ctx) || v.repairOne(ctx) {
				continue
			}
		}
		if err := v.sleep(ctx); err != nil {
			return err
		}
	}
}

// mayAct tells whether the project is not paused, and says when that changes. After a pause all
// is looked at anew.
func (v *Vigil) mayAct() bool {
	pause, err := v.Desk.Paused()
	paused := pause != nil || err != nil
	switch {
	case paused && !v.paused && err != nil:
		v.say(DidPause, "", err.Error())
	case paused && !v.paused:
		v.say(DidPause, "", pause.Reason)
	case !paused && v.paused:
		v.say(DidUnpause, "", "")
		v.mark("")
	}
	v.paused = paused
	return !paused
}

func (v *Vigil) say(word Word, handle agent.Handle, detail string) {
	v.Say(Deed{At: time.Now(), Word: word, Handle: handle, Detail: detail})
}

// look judges the agents to which something happened, or whose time has come.
func (v *Vigil) look(ctx context.Context) error {
	if err := v.list(); err != nil {
		return err
	}
	now := time.Now()
	v.memory.forget(now)
	var due []agent.Handle
	for _, c := range v.charges {
		if c.stale || !c.look.IsZero() && !c.look.After(now) {
			c.stale, c.look = false, time.Time{}
			due = append(due, c.handle)
		}
	}
	if len(due) == 0 {
		return nil
	}
	slices.Sort(due)
	patients := v.Team.Look(ctx, due)
	if ctx.Err() != nil {
		return agent.Errorf(agent.Interrupted, "interrupted")
	}
	if err := v.Signs.Follow(patients); err != nil {
		return err
	}
	for i := range patients {
		if patients[i].View.Record.Handle == "" { // it may be no more
			v.relist = true
		}
		if c := v.charges[patients[i].Handle.Key()]; c != nil {
			c.take(&patients[i])
			v.noteServer(c, now)
			c.look = v.nextLook(c, now)
			v.learn(c, now)
		}
	}
	_ = v.Desk.Remember(v.memory) // on a full disk it goes on looking; before a repair this has to succeed
	return nil
}

func (c *charge) take(p *recovery.Patient) {
	r := &p.View.Record
	c.Assessment, c.status, c.session, c.invocation, c.left = p.Assessment, p.View.Status, r.SessionID, "", nil
	c.holds = r.Restarts.Hold != nil
	c.tmux, c.started, c.ended = nil, r.Started, time.Time{}
	if r.Process != nil {
		c.invocation, c.tmux = r.Process.Invocation, r.Process.Tmux
		if exit := r.ExitOf(c.invocation); exit != nil {
			c.ended = exit.At
		}
	}
	if use := p.View.Context; use != nil {
		c.left = new(use.LeftPercent())
	}
}

// list takes up new agents, and forgets those that are gone.
func (v *Vigil) list() error {
	if !v.relist {
		return nil
	}
	handles, err := v.Team.Handles()
	if err != nil {
		return err
	}
	v.relist = false
	before := v.charges
	v.charges = map[string]*charge{}
	for _, handle := range handles {
		switch c := before[handle.Key()]; {
		case !v.covers(handle):
		case c != nil:
			v.charges[handle.Key()] = c
		default:
			v.charges[handle.Key()] = &charge{handle: handle, stale: true}
		}
	}
	maps.DeleteFunc(v.memory.Told, func(key string, _ map[Kind]string) bool { return v.charges[key] == nil })
	return nil
}

// nextLook is when an agent is looked at though nothing happened. One at rest never is: it cannot
// stop getting on, and what ends it or has it ask a person is a sign.
func (v *Vigil) nextLook(c *charge, now time.Time) time.Time {
	const starting = 10 * time.Second // it may be at a dialog, of which no file tells
	switch {
	case c.status.State == agent.Starting:
		return now.Add(min(starting, v.Every))
	case c.Working, c.Verdict == triage.Unknown, c.Verdict == triage.Stuck:
		return now.Add(v.Every)
	case c.Until.After(now):
		return c.Until
	case !c.Until.IsZero(): // its launcher waits for something else by now
		return now.Add(v.Every)
	case c.needs(&v.Policy) && v.isQuarantined(c):
		return v.memory.of(c.handle)[0].At.Add(window)
	case c.needs(&v.Policy) && c.rest.After(now):
		return c.rest
	}
	return time.Time{}
}

// mark has agents looked at; "" has all, and what is new.
func (v *Vigil) mark(handle agent.Handle) {
	if handle == "" {
		v.relist = true
	}
	for _, c := range v.charges {
		if handle == "" || c.handle.Same(handle) {
			c.stale = true
		}
	}
}

// sleep returns after a sign, or when the time has come for something.
func (v *Vigil) sleep(ctx context.Context) error {
	var alarm <-chan time.Time
	if at := v.wakeUp(); !at.IsZero() && !v.paused {
		alarm = time.After(time.Until(at))
	}
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return agent.Errorf(agent.Interrupted, "interrupted")
		case <-alarm:
			return nil
		case <-settled:
			return nil
		case handle, open := <-v.Signs.C():
			if !open {
				return v.Signs.Err()
			}
			v.mark(handle)
			if settled == nil {
				settled = time.After(settle)
			}
		}
	}
}

// wakeUp is the next time at which something is due; zero for none.
func (v *Vigil) wakeUp() time.Time {
	var first time.Time
	earlier := func(at time.Time) {
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	for _, c := range v.charges {
		earlier(c.look)
	}
	if len(v.memory.Pending) > 0 {
		earlier(v.tellNext)
	}
	if v.limited {
		earlier(v.memory.charged()[0].At.Add(window))
	}
	for _, s := range v.memory.Servers {
		if !s.Held.IsZero() {
			earlier(s.Held.Add(window))
		}
	}
	return first
}
