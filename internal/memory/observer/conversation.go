package observer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/past"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/turnfiles"
)

// observer is the observer of one conversation of an agent, with a conversation of its own.
type observer struct {
	*Worker
	of      target
	id      agent.SessionID // the memory id, as it was captured last
	prompts int             // that it was given in this process
	anew    bool            // the next one begins another conversation: the last failed, or it has become long
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
	endGrace    = 5 * time.Second
	long        = 60_000 // tokens in an observer's conversation from which on the next turn begins another one
)

// session is a claude that has the observer's conversation open.
type session struct {
	Process

	id      agent.SessionID // in which it was started
	resumed bool
	end     func()
}

// show shows a turn to the observer, and asks once more if the answer does not fit. Errors: *unfitError, *laterError.
func (o *observer) show(ctx context.Context, of *past.Turn) ([]memory.Observation, error) {
	release, err := o.Store.ConversationTurns().Await(ctx, o.Machine.Halted, func() {})
	if err != nil {
		return nil, err
	}
	defer release()
	s, outcome, err := o.open(ctx, promptOf(o.of.record.Handle, of))
	if s.resumed && (outcome.Class == turn.UnknownSession || outcome.Class == turn.TooLong) {
		s.end()
		s, outcome, err = o.open(ctx, promptOf(o.of.record.Handle, of))
	}
	defer s.end()
	if err != nil {
		return nil, err
	}
	answer, unfit := memory.ReadAnswer(outcome.Answer)
	if unfit == nil {
		return answer, nil
	}
	if outcome, err = o.say(ctx, s, again(unfit)); err != nil {
		return nil, err
	}
	if answer, unfit = memory.ReadAnswer(outcome.Answer); unfit != nil {
		o.anew = true
		return nil, &unfitError{unfit.Error()}
	}
	return answer, nil
}

// open starts claude on the observer's conversation, and gives it a text. Errors: *unfitError, *laterError.
func (o *observer) open(ctx context.Context, text string) (session, turn.Outcome, error) {
	s, err := o.start(ctx)
	if err != nil {
		return session{end: func() {}}, turn.Outcome{}, &laterError{pause: pause{why: err.Error(), until: o.again(o.rest)}}
	}
	outcome, err := o.say(ctx, s, text)
	return s, outcome, err
}

// say gives the observer a text. Errors: those of judge; the outcome is returned beside them.
func (o *observer) say(ctx context.Context, s session, text string) (turn.Outcome, error) {
	patience, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	var uncaptured error
	outcome, err := s.Turn(patience, string(agent.NewInvocation()), text, func(heard turn.Event) {
		if heard.Kind == turn.Confirmed {
			uncaptured = o.capture(ctx, s.id, heard.SessionID)
		}
	})
	if ctx.Err() != nil {
		return outcome, ctx.Err()
	}
	o.prompts++
	o.anew = err != nil || outcome.Class != turn.Answered || outcome.Usage.Input+outcome.Usage.CacheRead+outcome.Usage.CacheCreation > long
	if err != nil {
		return outcome, &laterError{pause: pause{why: fmt.Sprintf("no answer within %s", turnTimeout), until: o.again(o.rest)}}
	}
	if err := cmp.Or(uncaptured, o.spend(ctx, &outcome)); err != nil {
		return outcome, err
	}
	return outcome, o.judge(&outcome)
}

// capture stores the id of the observer's conversation, as claude has named it. It is durable before any observation
// is stored under it. Errors: Conflict for an agent's id, if it is another one than the observer was started with.
func (o *observer) capture(ctx context.Context, asked, id agent.SessionID) error {
	if id != asked && o.isAnAgents(id) {
		return fail.Errorf(fail.Conflict, "the observer was started in %s, and is in %s, which is an agent's", asked, id)
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
		if !until.After(o.Now()) {
			until = o.Now().Add(longPause)
		}
		return &laterError{pause: pause{why: why, until: until}, everybody: true}
	case turn.Overloaded, turn.ServerError:
		return &laterError{pause: pause{why: why, until: o.again(o.Worker.rest)}, everybody: true}
	case turn.UnknownSession, turn.SessionInUse, turn.Interrupted, turn.Killed, turn.Failed:
	}
	return &laterError{pause: pause{why: why, until: o.again(o.rest)}}
}

const longPause = 15 * time.Minute

// again returns when to retry after some failures: in 10 s, 20 s, 40 s ... 15 minutes.
func (o *observer) again(before pause) time.Time {
	return o.Now().Add(min(longPause, 10*time.Second<<min(before.failures, 10)))
}

// start opens the observer's conversation: the existing one or a new one.
func (o *observer) start(ctx context.Context) (session, error) {
	known, err := o.Memory.Observed(ctx, o.of.id)
	if err != nil {
		return session{}, err
	}
	s, release := session{}, func() {} // a new id is in no other use: a lease would only leave a file
	id, opening := agent.NewSessionID(), claude.OpenNew
	if memory.ShouldResume(known, o.prompts+1, o.anew) {
		if free, err := o.claim(known.MemoryID); err == nil {
			id, opening, release, s.resumed = known.MemoryID, claude.OpenResume, free, true
		}
	}
	s.id = id
	invocation := agent.NewInvocation()
	if s.Process, err = o.startClaude(id, opening, invocation); err != nil {
		release()
		return session{}, err
	}
	s.end = func() {
		o.end(ctx, s.Process, invocation)
		release()
	}
	return s, nil
}

// claim takes the lease of the observer's conversation and its transcript. Errors: Conflict; NotFound when the
// transcript no longer exists.
func (o *observer) claim(id agent.SessionID) (release func(), err error) {
	config, err := o.ConfigOf(&o.of.record)
	if err != nil {
		return nil, err
	}
	if said, err := config.HasMessages(id); err != nil || !said {
		return nil, errors.Join(err, fail.Errorf(fail.NotFound, "the conversation %s is gone", id))
	}
	endLease, err := o.Store.AcquireLease(id, store.Holder{PID: os.Getpid(), Verb: "memory", Since: o.Seconds()})
	if err != nil {
		return nil, err
	}
	letGo, _, err := config.Hold(id)
	if err != nil {
		endLease()
		return nil, err
	}
	release = func() { letGo(); endLease() }
	r := o.asRecord(id)
	strangers, err := o.Strangers(r)
	if err = cmp.Or(err, o.ErrStranger(r, strangers)); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// asRecord describes the observer's conversation as an agent's record, for packages that know agents only.
func (o *observer) asRecord(id agent.SessionID) *agent.Record {
	r := &o.of.record
	return &agent.Record{Spec: agent.Spec{Schema: r.Schema, SessionID: id, Model: o.Model, ProjectRoot: r.ProjectRoot, ConfigDir: r.ConfigDir}}
}

func (o *observer) startClaude(id agent.SessionID, opening claude.Opening, invocation agent.Invocation) (Process, error) {
	program, err := claude.FindBinary(o.Variable(claude.BinaryVariable))
	if err != nil {
		return nil, err
	}
	dir, err := o.Store.Spool().Work()
	if err != nil {
		return nil, err
	}
	o.Store.SweepTurnFiles(time.Now(), func(invocation string) bool {
		there, err := o.Machine.Carrying(agent.TurnVariable, invocation)
		return err != nil || len(there) > 0
	})
	files := o.Store.TurnFiles(invocation)
	prompt, err := files.Put(turnfiles.SystemPrompt, SystemPrompt)
	if err == nil {
		_, err = files.Put(turnfiles.Observes, o.Store.Project())
	}
	if err != nil {
		return nil, errors.Join(err, files.Drop())
	}
	spec := turn.Spec{SessionID: id, Opening: opening, Model: o.Model, SystemPromptFile: prompt, Extra: bare}
	caller := slices.DeleteFunc(slices.Clone(o.Env), func(entry string) bool { return strings.HasPrefix(entry, "NBS_") })
	env := claude.Env(&o.asRecord(id).Spec, caller, map[string]string{agent.TurnVariable: string(invocation), "PWD": dir})
	process, err := o.Worker.Start(turn.Launch{Program: program, Args: turn.Args(spec), Dir: dir, Env: env})
	if err != nil {
		return nil, errors.Join(err, files.Drop())
	}
	return process, nil
}

// bare starts claude without tools, and without the user's additions: hooks, servers, instructions.
var bare = []string{"--tools", "", "--safe-mode"}

// end asks claude to exit, or ends it and its children, even if the caller is canceled. It tries again if that fails:
// without free descriptors the process is not found.
func (o *observer) end(ctx context.Context, process Process, invocation agent.Invocation) {
	ctx = context.WithoutCancel(ctx)
	exits := func() bool {
		patience, cancel := context.WithTimeout(ctx, endGrace)
		defer cancel()
		return process.Close(patience) == nil
	}
	for !exits() {
		left, _ := o.Machine.Carrying(agent.TurnVariable, string(invocation))
		_ = o.Machine.StopAll(ctx, left, endGrace)
	}
	_ = o.Store.TurnFiles(invocation).Drop() // otherwise the next sweep does it
}

// endLeft ends the claudes that a killed worker of this project left running: a claude that hangs does not exit by
// itself. The caller holds the lock of the workers, so no worker uses them.
func (w *Worker) endLeft(ctx context.Context) {
	for _, invocation := range w.Store.TurnFiles("").With(turnfiles.Observes, w.Store.Project()) {
		left, err := w.Machine.Carrying(agent.TurnVariable, invocation)
		if err == nil {
			err = w.Machine.StopAll(ctx, left, endGrace)
		}
		if err == nil {
			err = w.Store.TurnFiles(agent.Invocation(invocation)).Drop()
		}
		if err != nil {
			w.Said("memory: the observer of a worker that was killed: %s", err)
		}
	}
}
