// Package vigil watches over a team: it repairs what its policy permits, and tells a person what
// only a person can mend.
//
//   - It acts on signs: files that change, processes that end. An agent that is not at rest is also
//     looked at by the clock, since no sign shows when one stops making progress.
//   - One repair at a time, the least that helps; at most so many an hour, and so many of one agent,
//     which is then left alone. An agent that works or that a person has left is never touched, nor
//     any in a paused project.
//   - The end of agents together with their tmux server is charged to that server, and not to the agents.
//   - An agent that its launcher will start again is left to the launcher.
//   - What it has done and told is written down before it goes on: the next watch reads it after a kill.
//   - A person is told each thing once until it has changed. A notice that cannot be told stops nothing.
//
// How an agent is judged and repaired is for package recovery; this one decides whether and when.
package vigil

import (
	"context"
	"maps"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/triage"
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
	limited  bool      // the limit of repairs was reached, and reported
	deaf     bool      // the last notice could not be told, which was reported
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
	ended      time.Time // as recorded; zero: not recorded
	holds      bool      // its launcher starts it no more before a person has looked

	stale bool
	look  time.Time // when it is looked at without a sign; zero: never
	rest  time.Time // until when it is not repaired: a repair has just failed
}

// settle is how long to wait for more signs after the first: one change touches several files.
const settle = time.Second

// Run watches until the context ends. Errors: Interrupted; why it can watch no longer.
func (v *Vigil) Run(ctx context.Context) error {
	memory, err := v.Desk.Recall()
	if err != nil {
		return err
	}
	v.memory, v.charges, v.relist = memory, map[string]*charge{}, true
	for {
		v.mayAct() // a pause is told, and what it leaves undone too
		if err := v.look(ctx); err != nil {
			return err
		}
		told := v.tell(ctx)
		if ctx.Err() == nil && v.mayAct() && v.repairOne(ctx) || told {
			continue
		}
		if err := v.sleep(ctx); err != nil {
			return err
		}
	}
}

// mayAct reports whether the project is not paused, and says when that changes. After a pause all
// agents are looked at anew.
func (v *Vigil) mayAct() bool {
	pause, err := v.Desk.Paused()
	paused := pause != nil || err != nil
	switch {
	case paused && !v.paused && err != nil:
		v.say(DidPause, "", err.Error())
		v.pend(&charge{}, Paused, err.Error())
	case paused && !v.paused:
		v.say(DidPause, "", pause.Words())
		v.pend(&charge{}, Paused, pause.Words())
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
		return fail.Errorf(fail.Interrupted, "interrupted")
	}
	if err := v.Signs.Follow(patients); err != nil {
		return err
	}
	for i := range patients {
		if patients[i].View.Record.Handle == "" || patients[i].View.Lost { // it may have been dismissed
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

// nextLook returns when an agent is looked at without a sign. One at rest never is: it cannot stop
// making progress, and its end, or a question that it asks a person, gives a sign.
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

// mark has an agent looked at, and taken up when it is new; "" all agents, and new ones.
func (v *Vigil) mark(handle agent.Handle) {
	if c := v.charges[handle.Key()]; c != nil {
		c.stale = true
		return
	}
	if handle != "" {
		v.relist = v.relist || v.covers(handle)
		return
	}
	v.relist = true
	for _, c := range v.charges {
		c.stale = true
	}
}

// sleep returns after a sign, or when the time has come for something.
func (v *Vigil) sleep(ctx context.Context) error {
	var alarm <-chan time.Time
	if at := v.wakeUp(); !at.IsZero() {
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
	if v.paused {
		return first // no repair is due
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
