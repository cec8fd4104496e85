package observer

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/past"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/store/turnfiles"
	"nbs-worker/internal/team/headless"
)

// observer is the observer of one conversation of an agent, with a conversation of its own.
type observer struct {
	*Worker
	of      target
	id      agent.SessionID // the memory id, as it was captured last
	prompts int             // that it was given in this process
	fresh   bool            // the next one begins another conversation: the last failed, or it has become long
	rest    pause
	seen    seen   // when no finished turn was unobserved
	rests   bool   // whether a turn was open then
	lost    string // the record up to which the transcript was read, once it was found missing
}

// seen is the state of an agent's transcript at its last read.
type seen struct {
	size     int64
	modified time.Time
	readTo   string
	left     bool
}

func (w *Worker) observerOf(t target) *observer {
	o := w.observers[t.id]
	if o == nil {
		o = &observer{Worker: w}
		w.observers[t.id] = o
	}
	o.of = t
	return o
}

const (
	turnTimeout = 5 * time.Minute
	long        = 60_000 // tokens in an observer's conversation from which on the next turn begins another one
)

// show shows a turn to the observer, and asks once more if the answer does not fit. Errors: *unfitError, *laterError.
func (o *observer) show(ctx context.Context, of *past.Turn) ([]memory.Observation, error) {
	release, err := o.Project.Store.ConversationTurns().Await(ctx, o.Project.Machine.Halted, func() {})
	if err != nil {
		return nil, err
	}
	defer release()
	s, outcome, err := o.open(ctx, promptOf(o.of.record.Handle, of))
	if err != nil {
		return nil, err
	}
	defer s.End(ctx)
	answer, unfit := memory.ReadAnswer(outcome.Answer)
	if unfit == nil {
		return answer, nil
	}
	if outcome, err = o.say(ctx, s, again(unfit)); err != nil {
		return nil, err
	}
	if answer, unfit = memory.ReadAnswer(outcome.Answer); unfit != nil {
		o.fresh = true
		return nil, &unfitError{unfit.Error()}
	}
	return answer, nil
}

// open starts claude on the observer's conversation, and gives it a text. If that conversation cannot be continued, it
// begins a new one. Errors: *unfitError, *laterError.
func (o *observer) open(ctx context.Context, text string) (*headless.Session, turn.Outcome, error) {
	s, resumed, err := o.start(ctx)
	if err != nil {
		return nil, turn.Outcome{}, &laterError{pause: pause{why: err.Error(), until: o.again(o.rest)}}
	}
	outcome, err := o.say(ctx, s, text)
	if err == nil {
		return s, outcome, nil
	}
	s.End(ctx)
	if resumed && (outcome.Class == turn.UnknownSession || outcome.Class == turn.TooLong) {
		return o.open(ctx, text) // in a new one, since say failed
	}
	return nil, outcome, err
}

// say gives the observer a text. Errors: those of judge; the outcome is returned beside them.
func (o *observer) say(ctx context.Context, s *headless.Session, text string) (turn.Outcome, error) {
	var uncaptured error
	outcome, err := s.Say(ctx, headless.Limits{Whole: turnTimeout}, string(agent.NewInvocation()), text, func(heard turn.Event) {
		if heard.Kind == turn.Confirmed {
			uncaptured = o.capture(ctx, s.ID, heard.SessionID)
		}
	})
	if ctx.Err() != nil {
		return outcome, ctx.Err()
	}
	o.prompts++
	o.fresh = err != nil || outcome.Class != turn.Answered || outcome.Usage.Input+outcome.Usage.CacheRead+outcome.Usage.CacheCreation > long
	if err != nil {
		return outcome, &laterError{pause: pause{why: err.Error(), until: o.again(o.rest)}}
	}
	if err := cmp.Or(uncaptured, o.spend(ctx, &outcome)); err != nil {
		return outcome, err
	}
	return outcome, o.judge(&outcome)
}

// capture stores the id of the observer's conversation, as claude has named it. It is durable before any observation
// is stored under it. Errors: Conflict for an agent's id, if it is another one than the observer was started with.
func (o *observer) capture(ctx context.Context, asked, id agent.SessionID) error {
	if id != asked && o.isTaken(id) {
		return fail.Errorf(fail.Conflict, "the observer was started in the conversation %s, but reports %s, which is an agent's or a chat's", asked, id)
	}
	before, err := o.Memory.Observed(ctx, o.of.id)
	if err != nil {
		return err
	}
	if err := o.Memory.Capture(ctx, o.of.id, id); err != nil {
		return err
	}
	o.id = id
	if before.Captured() && before.MemoryID != id {
		o.journal(ctx, o.of, "memory", fmt.Sprintf("%s is observed in %s now; before it was %s", o.of.id, id, before.MemoryID))
	}
	return nil
}

// judge returns the error for a turn that its observer did not answer, nil if it did. Errors: *unfitError,
// *laterError.
func (o *observer) judge(outcome *turn.Outcome) error {
	why := fmt.Sprintf("%s: %s", outcome.Class, strings.TrimSpace(outcome.Detail))
	switch outcome.Class {
	case turn.Answered:
		return nil
	case turn.BadRequest, turn.TooLong:
		return &unfitError{why}
	case turn.Limit, turn.Authentication, turn.BadModel:
		until := outcome.RetryAt
		if !until.After(o.Project.Now()) {
			until = o.Project.Now().Add(longPause)
		}
		return &laterError{pause: pause{why: why, until: until}, all: true}
	case turn.Overloaded, turn.ServerError:
		return &laterError{pause: pause{why: why, until: o.again(o.Worker.rest)}, all: true}
	case turn.UnknownSession, turn.SessionInUse, turn.Interrupted, turn.Killed, turn.Blocked, turn.UnknownCommand, turn.Failed:
	}
	return &laterError{pause: pause{why: why, until: o.again(o.rest)}}
}

const longPause = 15 * time.Minute

// again returns when to retry after some failures: in 10 s, 20 s, 40 s ... 15 minutes.
func (o *observer) again(before pause) time.Time {
	return o.Project.Now().Add(min(longPause, 10*time.Second<<min(before.failures, 10)))
}

// start starts claude on the observer's conversation, or on a new one.
func (o *observer) start(ctx context.Context) (s *headless.Session, resumed bool, err error) {
	known, err := o.Memory.Observed(ctx, o.of.id)
	if err != nil {
		return nil, false, err
	}
	dir, err := o.Project.Store.Spool().Work()
	if err != nil {
		return nil, false, err
	}
	l := headless.Launch{
		Start: o.Start, Record: o.asRecord(agent.NewSessionID()), Spec: turn.Spec{Opening: cmdline.OpenNew, Extra: bare},
		Manner: headless.Manner{Model: o.Model, Prompt: SystemPrompt}, Dir: dir, Caller: o.Project.Env,
		Prepare: func(_ agent.Invocation, files turnfiles.Files) (map[string]string, error) {
			_, err := files.Put(turnfiles.Observes, o.Project.Store.Project())
			return nil, err
		},
	}
	if resumed = memory.ShouldResume(known, o.prompts+1, o.fresh); resumed {
		l.Record, l.Spec.Opening, l.Verb = o.asRecord(known.MemoryID), cmdline.OpenResume, "memory"
	}
	s, err = l.Open(ctx, o.Project)
	if resumed && fail.KindOf(err) == fail.Conflict { // another process has it open
		o.fresh = true
		return o.start(ctx)
	}
	return s, resumed, err
}

// asRecord describes the observer's conversation as an agent's record, for packages that know agents only.
func (o *observer) asRecord(id agent.SessionID) *agent.Record {
	r := &o.of.record
	return &agent.Record{Spec: agent.Spec{Schema: r.Schema, SessionID: id, Model: o.Model, ProjectRoot: r.ProjectRoot, ConfigDir: r.ConfigDir}}
}

// bare starts claude without tools, and without the user's additions: hooks, servers, instructions.
var bare = []string{"--tools", "", "--safe-mode"}

// endLeft ends the claudes that a killed worker of this project left running: a claude that hangs does not exit by
// itself. The caller holds the lock of the workers, so no worker uses them.
func (w *Worker) endLeft(ctx context.Context) {
	for _, invocation := range w.Project.Store.TurnFiles("").With(turnfiles.Observes, w.Project.Store.Project()) {
		if err := headless.EndLeft(ctx, w.Project, agent.Invocation(invocation)); err != nil {
			w.Said("memory: end the observer of a killed worker: %s", err)
		}
	}
}
