package wait

import (
	"context"
	"errors"
	"os"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// look judges an agent that has changed.
func (w *waiting) look(ctx context.Context, a *watched) error {
	if !a.stale {
		return nil
	}
	a.stale, a.sight = false, observe.Sight{}
	r, err := w.inspector.Project.Store.Load(a.Handle)
	switch {
	case fail.KindOf(err) == fail.NotFound:
		a.dismiss()
	case err != nil:
		return err
	default:
		if err := w.judge(ctx, a, &r); err != nil {
			return err
		}
	}
	a.Met = conditions(w.For).holds(&a.Waited)
	a.sight.Status = a.Status
	w.signs.Looked(a.Handle, &a.sight)
	return nil
}

// tornPause is how long Claude may take to write a registry entry, which it writes in place.
const tornPause = 20 * time.Millisecond

// torn reports whether the registry entry is being written and cannot be parsed. A look would then use the next best
// source, which is out of date.
func (w *waiting) torn(r *agent.Record) bool {
	if r.Process == nil || r.Process.PID == 0 {
		return false
	}
	_, err := w.inspector.Project.Registered(r)
	return err != nil && !errors.Is(err, os.ErrNotExist)
}

// judge observes the agent as the verb session does.
func (w *waiting) judge(ctx context.Context, a *watched, r *agent.Record) error {
	a.Handle = r.Handle // in the spelling of its spawn
	if w.torn(r) {
		_ = clock.Sleep(ctx, tornPause)
	}
	view := inspect.View{Sight: w.inspector.Project.LookAt(ctx, *r)}
	if fail.KindOf(view.Err) == fail.NotFound {
		a.dismiss()
		return nil
	}
	a.sight = view.Sight
	a.Status, a.done, a.goesOn, a.Dialog, a.Asked = view.Status, view.Done, view.Background() > 0, view.Dialog, view.Asked
	if a.gone() && w.inspector.Project.BeingStarted(r) {
		a.Status = agent.Status{State: agent.Starting, Source: agent.FromRecord}
	}
	if !a.Status.Down() && view.Job == nil && w.inspector.Project.IsForeign(r) { // its signs do not come here, and no scheduler is asked
		return w.inspector.Project.HintJob(fail.Errorf(fail.Failed, "%s cannot be waited for from here: it runs on host %s", r.Handle, human.Quote(r.Process.Host)), r, "wait")
	}
	if view.Status = a.Status; conditions(w.For).ask(untilNeeds) {
		a.Need = attention.NewJudge(w.inspector.Project, w.Bands).Of(&view.Sight, r.GaugeOf(view.Report).Context())
	}
	if conditions(w.For).ask(untilContextBelow) {
		if err := w.inspector.AddTranscript(&view); err != nil {
			return err
		}
		a.Context = view.Context
	}
	a.notLoggedIn = false
	if conditions(w.For).ask(untilReady) {
		shown, err := w.inspector.Project.Screen(ctx, r)
		a.notLoggedIn = err == nil && screen.NotLoggedIn(shown.Text) || view.Report.Failure != nil && view.Report.Failure.Class == inspect.ClassAuthentication
	}
	return nil
}
