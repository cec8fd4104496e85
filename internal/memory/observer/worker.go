// Package observer observes the work of agents, and keeps the observations. For each conversation of an agent whose
// memory is on, it shows the finished turns to a separate headless claude, which answers with observations. A keyed
// conversation whose memory is on is observed as an agent's; its sessions are what the conversations of an agent are.
//
//   - One worker per project. It needs no other process: hooks only give hints, and the records name the transcripts.
//     How far each transcript was read is stored with its observations, in one transaction.
//   - A worker that is killed loses nothing: a turn without a stored result is observed again, and the next worker
//     ends the claudes that were left running.
//   - An observer has no tools, no project and no settings but the user's login. Its input is framed as data, and
//     secrets are replaced before.
//   - The id of an observer is stored when claude names it, before any of its answers. Its conversation is continued
//     within one process only: [memory.ShouldResume].
//   - After a failure of the API the turn is shown again later. After two answers that do not fit, the turn is passed
//     over, and the journal says so.
package observer

import (
	"context"
	"errors"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/store/spool"
	"nbs-worker/internal/team/headless"
	"nbs-worker/internal/team/observe"
)

// The defaults.
const (
	DefaultModel        agent.Model = "haiku"
	DefaultTokensPerDay int         = 500_000
)

// Worker observes the agents of one project.
type Worker struct {
	Project *observe.Project

	Memory       memory.Store
	Model        agent.Model  // of the observers
	TokensPerDay int          // all observers together, by the UTC day; then they rest until the next
	Handle       agent.Handle // the only agent to observe; "": all
	Said         func(format string, args ...any)
	Start        func(turn.Launch) (headless.Process, error) // a real claude, except in tests

	observers map[agent.SessionID]*observer // by content id
	owed      map[agent.SessionID]bool      // content ids with turns that are over and not observed yet
	rest      pause                         // of all observers
	done      Report
	said      string // the failure that was told last
}

// Report counts the results of a run.
type Report struct {
	Turns        int // that were observed
	Observations int // that were stored
	Skipped      int // turns that were passed over: their observer gave no answer that fits
	Tokens       int // that were spent
	Waiting      []Waiting
}

// Waiting is a conversation with turns that are not observed yet.
type Waiting struct {
	Handle    agent.Handle
	ContentID agent.SessionID
	Why       string
	Until     time.Time // when it is tried again; zero: at the next end of a turn
}

// New returns the worker of a project. The observers have its environment, without the variables of an agent.
func New(project *observe.Project, kept memory.Store) *Worker {
	return &Worker{
		Project: project, Memory: kept, Model: DefaultModel, TokensPerDay: DefaultTokensPerDay, Said: func(string, ...any) {},
		Start: headless.Start, observers: map[agent.SessionID]*observer{},
		owed: map[agent.SessionID]bool{},
	}
}

const (
	rescan   = 5 * time.Second        // between two looks at what could not be observed yet
	patience = 5 * time.Second        // how long an announced turn is waited for that is not in the transcript yet
	soon     = 250 * time.Millisecond // between two looks for such a turn
	hopeless = time.Minute            // the age at which an announcement is given up
)

// Once observes all that can be observed now, and returns. The report names what has to wait. Errors: Conflict when
// another worker runs.
func (w *Worker) Once(ctx context.Context) (Report, error) {
	release, err := w.Project.Store.LockMemory(w.Project.Now())
	if err != nil {
		return Report{}, err
	}
	defer release()
	w.endLeft(ctx)
	w.done = Report{}
	for begun, all := time.Now(), true; ; all = false {
		unfinished, err := w.pass(ctx, all)
		if err != nil || !unfinished || time.Since(begun) > patience {
			return w.done, err
		}
		if err := clock.Sleep(ctx, soon); err != nil {
			return w.done, err
		}
	}
}

// Run observes announced conversations, until the context ends. It sleeps between announcements. Errors: Conflict
// when another worker runs; [memory.ErrReplaced].
func (w *Worker) Run(ctx context.Context) error {
	release, err := w.Project.Store.LockMemory(w.Project.Now())
	if err != nil {
		return err
	}
	defer release()
	w.endLeft(ctx)
	changes, err := fswatch.New()
	if err != nil {
		return err
	}
	defer changes.Close()
	for all := true; ; all = false {
		if err := changes.Folder(w.Project.Store.Spool().Path()); err != nil {
			return err
		}
		w.done.Waiting = nil
		unfinished, err := w.pass(ctx, all)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, memory.ErrReplaced) {
			return err
		}
		w.complain(err)
		switch {
		case unfinished:
			err = clock.Sleep(ctx, soon)
		case w.isOwing():
			err = clock.Sleep(ctx, rescan)
		default:
			err = changes.Change(ctx)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// isOwing reports whether there is work for which no new announcement will come.
func (w *Worker) isOwing() bool {
	waiting, err := w.Project.Store.Spool().List()
	return err != nil || len(w.owed) > 0 || slices.ContainsFunc(waiting, func(a spool.Announcement) bool { return w.observes(a.Handle) })
}

// complain reports an error, once.
func (w *Worker) complain(err error) {
	text := ""
	if err != nil {
		text = memory.UserText(err)
	}
	if text != "" && text != w.said {
		w.Said("memory: %s", text)
	}
	w.said = text
}

// pass observes announced conversations, and those that could not be observed before; with all, every conversation
// that may have new text. unfinished reports whether a turn that was announced a moment ago is not in its transcript
// yet.
func (w *Worker) pass(ctx context.Context, all bool) (unfinished bool, err error) {
	targets, err := w.targets(ctx, all)
	for _, t := range targets {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if w.mustWait(t) {
			continue
		}
		more, failure := w.observe(ctx, t)
		err = errors.Join(err, failure)
		if o := w.observerOf(t); failure != nil {
			o.rest = pause{until: o.again(o.rest), why: failure.Error(), failures: o.rest.failures + 1}
		}
		unfinished = unfinished || more && w.Project.Now().Sub(t.newest()) < patience
	}
	return unfinished, err
}

// mustWait reports whether a conversation must not be observed yet, and records why.
func (w *Worker) mustWait(t target) bool {
	held := w.rest
	if o := w.observers[t.id]; o != nil && !w.rest.lasts(w.Project.Now()) {
		held = o.rest
	}
	if !held.lasts(w.Project.Now()) {
		return false
	}
	w.waits(t, held)
	return true
}

func (w *Worker) waits(t target, p pause) {
	w.done.Waiting = slices.DeleteFunc(w.done.Waiting, func(before Waiting) bool { return before.ContentID == t.id })
	w.done.Waiting = append(w.done.Waiting, Waiting{Handle: t.record.Handle, ContentID: t.id, Why: p.why, Until: p.until})
}

// pause is a time without attempts.
type pause struct {
	until    time.Time
	why      string
	failures int // one after the other
}

func (p *pause) lasts(now time.Time) bool { return p.until.After(now) }
