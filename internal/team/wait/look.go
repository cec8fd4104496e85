package wait

import (
	"context"
	"errors"
	"os"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/inspect"
)

// anyFile stands for all files of a folder.
const anyFile = "/*"

// look judges an agent that has changed. It watches everything that may change before it reads it, so that a change
// in between leads to another event.
func (w *waiting) look(ctx context.Context, a *watched) error {
	if !a.stale {
		return nil
	}
	a.stale, a.files, a.process = false, map[string]bool{}, map[agent.Identified]bool{}
	record, report := w.Store.Watched(a.Handle)
	if err := w.file(a, record, report); err != nil {
		return err
	}
	r, err := w.Store.Load(a.Handle)
	if fail.KindOf(err) == fail.NotFound {
		a.dismiss()
		a.Met, a.again = conditions(w.For).holds(&a.Waited), time.Time{}
		return nil
	}
	if err != nil {
		return err
	}
	a.Handle = r.Handle // in the spelling of its spawn
	a.torn = !a.torn && w.torn(&r)
	if err := w.arm(a, &r); err != nil {
		return err
	}
	if a.torn { // the entry is half written; the earlier judgement stays
		a.again = time.Now().Add(tornPause)
		return nil
	}
	if err := w.judge(ctx, a, &r); err != nil {
		return err
	}
	a.Met = conditions(w.For).holds(&a.Waited)
	w.schedule(a)
	return nil
}

// arm watches what shows a change of the recorded start.
func (w *waiting) arm(a *watched, r *agent.Record) error {
	record, report := w.Store.Watched(r.Handle)
	config, err := w.ConfigOf(r)
	if err != nil {
		return err
	}
	files := []string{record, report}
	if conditions(w.For).ask(untilContextBelow) {
		if transcript, found, err := config.Transcript(r.SessionID); err == nil && found {
			files = append(files, transcript.Path)
		}
	}
	if r.Process == nil { // the entry of the process that has the conversation open
		return w.file(a, append(files, config.Registry().Dir()+anyFile)...)
	}
	if err := w.file(a, append(files, config.Registry().Path(r.Process.Claude().PID))...); err != nil {
		return err
	}
	for _, id := range []agent.Identity{r.Process.Identity, r.Process.LauncherIdentity()} {
		if err := w.process(a, id); err != nil {
			return err
		}
	}
	if holder, signed := w.Store.VerbHolder(r.Handle); signed {
		if id, err := w.Machine.Identify(holder.PID); err == nil { // its end may be the end of a start
			return w.process(a, id)
		}
	}
	return nil
}

func (w *waiting) file(a *watched, paths ...string) error {
	for _, path := range paths {
		a.files[path] = true
		if err := w.watch.File(path); err != nil {
			return err
		}
	}
	return nil
}

func (w *waiting) process(a *watched, id agent.Identity) error {
	if !w.Machine.IsAlive(id) {
		return nil
	}
	a.process[id.Identified] = true
	return w.watch.Process(w.Machine, id.Identified)
}

// tornPause is how long Claude may take to write a registry entry, which it writes in place.
const tornPause = 20 * time.Millisecond

// torn reports whether the registry entry is being written and cannot be parsed. A look would then use the next best
// source, which is out of date.
func (w *waiting) torn(r *agent.Record) bool {
	if r.Process == nil || r.Process.PID == 0 {
		return false
	}
	config, err := w.ConfigOf(r)
	if err != nil {
		return false
	}
	_, err = config.Registry().Entry(r.Process.Claude().PID)
	return err != nil && !errors.Is(err, os.ErrNotExist)
}

// judge observes the agent as the verb session does.
func (w *waiting) judge(ctx context.Context, a *watched, r *agent.Record) error {
	view := inspect.View{Sight: w.LookAt(ctx, *r)}
	if fail.KindOf(view.Err) == fail.NotFound {
		a.dismiss()
		return nil
	}
	a.Status, a.done, a.goesOn, a.Dialog, a.Asked = view.Status, view.Done, view.Background() > 0, view.Dialog, view.Asked
	if a.gone() && w.BeingStarted(r) {
		a.Status = agent.Status{State: agent.Starting, Source: agent.FromRecord}
	}
	if a.Status.State == agent.Unknown && w.IsForeign(r) {
		return fail.Errorf(fail.Failed, "%s cannot be waited for from here: %s", r.Handle, a.Status.Detail)
	}
	if conditions(w.For).ask(untilContextBelow) {
		if err := w.AddTranscript(&view); err != nil {
			return err
		}
		a.Context = view.Context
	}
	a.notLoggedIn = false
	if conditions(w.For).ask(untilReady) {
		shown, err := w.Observer.Screen(ctx, r)
		a.notLoggedIn = err == nil && screen.NotLoggedIn(shown.Text) || view.Report.Failure != nil && view.Report.Failure.Class == inspect.ClassAuthentication
	}
	return nil
}

const longestPause = 30 * time.Second

// schedule plans another look, after 1, 2, 4 ... 30 seconds, if the registry shows nothing of a claude: only the
// screen shows a first-run dialog, and only the clock shows that claude has been starting for long.
func (w *waiting) schedule(a *watched) {
	if a.Status.State != agent.Starting && (!a.Status.SamePID || a.Status.Source == agent.FromRegistry) {
		a.again, a.pause = time.Time{}, 0
		return
	}
	if a.again.IsZero() || !a.again.After(time.Now()) {
		a.pause = min(max(time.Second, 2*a.pause), longestPause)
		a.again = time.Now().Add(a.pause)
	}
}
