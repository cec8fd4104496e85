// Package wait sleeps until agents are in a wanted state. It does not poll: a sign shows that an agent has changed, and
// a look shows how.
package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/subscribe"
)

// Wanted says what to wait for.
type Wanted struct {
	Handles []agent.Handle
	For     []Condition   // an agent must meet one of them
	Any     bool          // one agent is enough; false: all agents at the same time
	Timeout time.Duration // 0: no limit
	Bands   agent.Bands   // by which an agent is short of context; only for needs

	Notice      func(missing string, hints []string) // called once after NoticeAfter: says which agents are not in the wanted state
	NoticeAfter time.Duration
}

// Waited is the state of an agent at the end of the wait.
type Waited struct {
	Handle  agent.Handle
	Status  agent.Status
	Dialog  screen.Dialog     // the dialog that it waits at, or ""
	Asked   *agent.Asked      // in the dialog; nil: nothing, or its screen does not show it
	Context *agent.ContextUse // set for context-below only
	Need    *attention.Need   // set for needs only; nil: it needs no person
	Met     bool

	done        bool // its last turn ended well
	goesOn      bool // in the background, after that turn
	dismissed   bool
	notLoggedIn bool
}

// Dismissed is the cause of an agent whose record was removed during the wait.
const Dismissed agent.Cause = "dismissed"

func (w *Waited) gone() bool { return w.Status.State == agent.Dead }

func (w *Waited) dismiss() {
	w.Dialog, w.Asked, w.Need = "", nil, nil
	w.dismissed, w.Status = true, agent.Status{State: agent.Dead, Cause: Dismissed, Source: agent.FromRecord}
}

// word returns the state of the agent, for an error.
func (w *Waited) word() string {
	word := w.Status.Word()
	if w.gone() && w.Status.Detail != "" {
		word += " (" + w.Status.Detail + ")"
	}
	if w.Asked != nil {
		word += ", it asks: " + w.Asked.String()
	}
	if w.notLoggedIn && !strings.Contains(word, "not logged in") {
		word += ", not logged in"
	}
	return word
}

// For returns when the agents are in the wanted state, also if some were restarted in between. Errors: NotFound at
// the beginning; Failed when an agent has ended or its turn has failed, unless the wait is for that; TimedOut;
// Interrupted.
func For(ctx context.Context, in *inspect.Inspector, w Wanted) ([]Waited, error) {
	for _, handle := range w.Handles {
		if _, err := in.Project.Store.Load(handle); err != nil {
			return nil, fmt.Errorf("%s: %w", handle, err)
		}
	}
	signs, err := subscribe.To(in.Project, subscribe.Wanted{Handles: w.Handles, Transcripts: conditions(w.For).ask(untilContextBelow)})
	if err != nil {
		return nil, err
	}
	defer signs.Close()
	waiting := &waiting{inspector: in, Wanted: w, signs: signs, agents: make([]watched, len(w.Handles))}
	for i, handle := range w.Handles {
		waiting.agents[i] = watched{Waited: Waited{Handle: handle}, stale: true}
	}
	err = waiting.run(ctx)
	out := make([]Waited, len(waiting.agents))
	for i := range waiting.agents {
		out[i] = waiting.agents[i].Waited
	}
	return out, err
}

// waiting is one running wait.
type waiting struct {
	inspector *inspect.Inspector
	Wanted
	signs  *subscribe.Signs
	agents []watched
}

// watched is one agent of a wait.
type watched struct {
	Waited
	stale bool          // it may have changed since the last look
	sight observe.Sight // of the last look; zero: it was dismissed
}

func (w *waiting) run(ctx context.Context) error {
	var late, notice <-chan time.Time
	if w.Timeout > 0 {
		late = time.After(w.Timeout)
	}
	if w.Notice != nil {
		notice = time.After(w.NoticeAfter)
	}
	for {
		for i := range w.agents {
			if err := w.look(ctx, &w.agents[i]); err != nil {
				return err
			}
		}
		if done, err := w.outcome(); done || err != nil {
			return err
		}
		select {
		case sign, open := <-w.signs.C():
			if !open {
				return w.signs.Err()
			}
			w.mark(sign.Handle)
		case <-notice:
			w.Notice(w.missing())
		case <-late:
			return w.timedOut()
		case <-ctx.Done():
			return fail.Errorf(fail.Interrupted, "interrupted; nothing was changed")
		}
	}
}

// mark has an agent looked at again; "": all agents.
func (w *waiting) mark(handle agent.Handle) {
	for i := range w.agents {
		if a := &w.agents[i]; handle == "" || a.Handle.Same(handle) {
			a.stale = true
		}
	}
}

// outcome reports whether the wait is over.
func (w *waiting) outcome() (done bool, err error) {
	met, lost := 0, []*watched{}
	for i := range w.agents {
		switch a := &w.agents[i]; {
		case a.Met:
			met++
		case a.gone(), conditions(w.For).failWith(&a.Waited):
			lost = append(lost, a)
		}
	}
	switch {
	case w.Any && met > 0, met == len(w.agents):
		return true, nil
	case len(lost) == len(w.agents), !w.Any && len(lost) > 0:
		return false, w.inVain(lost)
	}
	return false, nil
}

// inVain returns the error for a state that will not be reached.
func (w *waiting) inVain(lost []*watched) error {
	var words, hints []string
	for _, a := range lost {
		if a.Status.State == agent.TurnFailed {
			words = append(words, fmt.Sprintf("%s is idle, and its last turn failed: %s", a.Handle, a.Status.Detail))
			hints = append(hints, fmt.Sprintf("what the API said: nbs-worker session %s", a.Handle))
			continue
		}
		words = append(words, fmt.Sprintf("%s is gone: %s", a.Handle, a.word()))
		if !a.dismissed {
			hints = append(hints, fmt.Sprintf("bring it back: nbs-worker resume %s", a.Handle))
		}
	}
	return &fail.Error{Kind: fail.Failed, Err: errors.New(strings.Join(words, "; ")), Hints: hints}
}

func (w *waiting) timedOut() error {
	missing, hints := w.missing()
	limit := w.Timeout
	if limit > time.Second { // the rest of a limit that was given to a verb
		limit = limit.Round(time.Second / 10)
	}
	err := fail.Errorf(fail.TimedOut, "not %s within %s: %s", conditions(w.For), limit, missing)
	err.Hints = hints
	return err
}

// missing describes the agents that are not in the wanted state, and what helps.
func (w *waiting) missing() (missing string, hints []string) {
	var words []string
	for i := range w.agents {
		a := &w.agents[i]
		if a.Met {
			continue
		}
		words = append(words, fmt.Sprintf("%s is %s", a.Handle, a.word()))
		switch {
		case a.Status.State == agent.Waiting:
			hints = append(hints, "a person has to answer"+w.inspector.Project.WayToAnswer(a.Handle))
		case a.notLoggedIn:
			hints = append(hints, fmt.Sprintf("a person has to log in: nbs-worker attach %s", a.Handle))
		}
		switch isIdle := a.Status.State == agent.Idle && conditions(w.For).ask(untilDone); {
		case isIdle && a.goesOn:
			hints = append(hints, fmt.Sprintf("what %s left in the background still runs; to wait for its turn alone: nbs-worker wait %s --for idle", a.Handle, a.Handle))
		case isIdle:
			hints = append(hints, fmt.Sprintf("the last turn of %s was interrupted, or none has begun since it was started; it waits for a prompt: nbs-worker wait %s --for idle", a.Handle, a.Handle))
		}
	}
	return strings.Join(words, "; "), hints
}
