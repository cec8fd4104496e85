package launch

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Some things hold a start until a person acts, and only the screen shows them: a dialog, or a missing login.

// checkDialog returns an error when claude waits at a dialog. Any dialog holds the start of a claude that is not in
// its registry yet.
func (w *starting) checkDialog(ctx context.Context) error {
	if time.Since(w.begun) < screenAfter || time.Since(w.lastScreen) < screenEvery {
		return nil
	}
	w.lastScreen = time.Now()
	shown, err := w.Project.Screen(ctx, &w.record)
	if err != nil {
		return nil //nolint:nilerr // this proves nothing; the deadline decides
	}
	reading := screen.Read(shown.Text)
	if reading.Dialog == "" || reading.Dialog == screen.DialogOther && reading.Asked == nil && !w.stays() {
		return nil
	}
	return w.heldAt(reading.Dialog, reading.Asked)
}

// drawingTime is how long claude may take to draw its prompt or a dialog completely.
const drawingTime = 2 * time.Second

// stays reports whether a dialog with unrecognised choices has been shown for longer than claude needs to draw it.
func (w *starting) stays() bool {
	if w.unclear.IsZero() {
		w.unclear = time.Now()
	}
	return time.Since(w.unclear) >= drawingTime
}

// checkRefusal returns an error when the screen shows for some time that a hook has refused the prompt. A resumed
// claude redraws an old refusal, so a moment does not count.
func (w *starting) checkRefusal(ctx context.Context) error {
	if time.Since(w.lastScreen) < screenEvery {
		return nil
	}
	w.lastScreen = time.Now()
	shown, err := w.Project.Screen(ctx, &w.record)
	if err != nil {
		return nil //nolint:nilerr // this proves nothing; the deadline decides
	}
	if lasts(&w.refused, screen.Refused(shown.Text, w.plan.Prompt)) {
		return fail.Errorf(fail.Held, "claude is ready, and a hook has refused the prompt").
			Hint("to see what the hook said: nbs-worker screen %s", w.record.Handle).
			Hint("to send another prompt: nbs-worker send %s TEXT", w.record.Handle)
	}
	return nil
}

func (w *starting) heldAt(dialog screen.Dialog, asked *agent.Asked) error {
	r := &w.record
	what := ""
	if asked != nil {
		what = ". It shows:\n  " + strings.ReplaceAll(asked.Text, "\n", "\n  ") + "\n  [" + strings.Join(asked.Choices, " / ") + "]"
	}
	err := fail.Errorf(fail.Held, "claude waits at a dialog: it asks %s (%s)%s", dialog.Question(), dialog, what).
		Hint("answer it%s", w.Project.WayToAnswer(r.Handle))
	if dialog == screen.DialogTrust {
		return err.Hint("or let claude trust the folder: nbs-worker resume %s --force %s", r.Handle, TrustFlag(r.LaunchCwd()))
	}
	return err
}

// ErrNotLoggedIn means that claude runs but is not logged in.
var ErrNotLoggedIn = errors.New("claude is not logged in")

// checkLogin returns an error if claude looks idle but is not logged in, and otherwise records when claude was ready.
// Without a pane it does neither.
func (w *starting) checkLogin(ctx context.Context) (done bool, err error) {
	if !w.blank.IsZero() && time.Since(w.lastScreen) < screenEvery {
		return false, nil
	}
	w.lastScreen = time.Now()
	shown, err := w.Project.Screen(ctx, &w.record)
	if err != nil {
		return true, nil //nolint:nilerr // it is ready nevertheless
	}
	if w.lags(shown.Text) {
		return false, nil
	}
	if screen.NotLoggedIn(shown.Text) {
		return false, fail.Errorf(fail.Held, "%w: it cannot answer a prompt", ErrNotLoggedIn).
			Hint("log in with /login in its terminal: nbs-worker attach %s", w.record.Handle)
	}
	w.record.Process.Ready = w.Project.Seconds()
	return true, nil
}

// lags reports whether the terminal of a claude that is ready is still empty, as on a busy machine, and may be waited for.
func (w *starting) lags(shown string) bool {
	if strings.TrimSpace(shown) != "" || time.Since(w.begun)+drawingTime > w.limit {
		return false
	}
	if w.blank.IsZero() {
		w.blank = time.Now()
	}
	return time.Since(w.blank) < drawingTime
}

// checkRoom returns an error if claude cannot write its prompt to disk, and so nothing that follows.
func (w *starting) checkRoom() error {
	if !lasts(&w.full, w.plan.config.IsFull()) {
		return nil
	}
	return fail.Errorf(fail.Held, "claude is ready, and the disk of its transcript is full: the prompt is not saved, and the conversation is lost when claude ends").
		Hint("free space on that disk: df -h %s", human.ShellWord(filepath.Dir(w.plan.config.SettingsFile())))
}
