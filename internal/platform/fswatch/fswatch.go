// Package fswatch reports changes without polling: files that are replaced, folders that come and
// go, processes that end. A caller that waits for one sleeps in the kernel.
//
// It knows no agents: its callers decide what a change means.
package fswatch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fsnotify/fsnotify"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine"
)

// untilClosed lets a wait for the end of a process go on until its handle is closed.
var untilClosed = context.Background()

// Watch reports files that changed and processes that ended. It watches folders, not files: files are replaced by
// renaming.
type Watch struct {
	files *fsnotify.Watcher
	dirs  map[string]bool // all that were asked for
	// missing are the folders that do not exist yet, each with its nearest ancestor that
	// does, which is watched instead; and the folders of [Watch.Entry].
	missing map[string]string

	closed  chan struct{}
	ended   chan agent.Identified
	endings map[agent.Identified]machine.Process // nil for one that has ended: it is not asked for again
}

// New returns a watch of nothing.
func New() (*Watch, error) {
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, Failed(err)
	}
	return &Watch{
		files: files, dirs: map[string]bool{}, missing: map[string]string{}, closed: make(chan struct{}),
		ended: make(chan agent.Identified), endings: map[agent.Identified]machine.Process{},
	}, nil
}

// Close ends the watch.
func (w *Watch) Close() {
	close(w.closed)
	for _, ending := range w.endings {
		if ending != nil {
			_ = ending.Close()
		}
	}
	_ = w.files.Close()
}

// File watches the folder of a file. To watch it again costs one system call, and watches a folder that has replaced
// the old one.
func (w *Watch) File(path string) error { return w.Folder(filepath.Dir(path)) }

// Entry watches whether a folder is removed from its parent, or together with it. Other changes in the parent are not
// reported.
func (w *Watch) Entry(dir string) error {
	above, err := w.nearest(filepath.Dir(dir))
	if err == nil {
		w.missing[dir] = above
	}
	return err
}

// Folder watches a folder, which need not exist yet.
func (w *Watch) Folder(dir string) error {
	w.dirs[dir] = true
	for {
		at, err := w.nearest(dir)
		if err != nil {
			return err
		}
		if at == dir {
			delete(w.missing, dir)
			return nil
		}
		w.missing[dir] = at
		if _, err := os.Stat(below(at, dir)); err != nil {
			return nil //nolint:nilerr // it is missing; else it was made this moment
		}
	}
}

// nearest watches a folder, or the nearest above it that exists.
func (w *Watch) nearest(dir string) (string, error) {
	for {
		err := w.files.Add(dir)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", Failed(err)
		}
		dir = filepath.Dir(dir)
	}
}

// below returns the child of an ancestor on the way to dir.
func below(ancestor, dir string) string {
	next, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(dir, ancestor), "/"), "/")
	return filepath.Join(ancestor, next)
}

// Rebuilds reports whether an event is about a watched folder itself, or about one that was missing.
func (w *Watch) Rebuilds(event fsnotify.Event) bool {
	if w.dirs[event.Name] {
		return true
	}
	for dir, ancestor := range w.missing {
		if event.Name == below(ancestor, dir) || event.Name == ancestor {
			return true
		}
	}
	return false
}

// Change waits until a file has changed since the watch began or since the last call. It treats a burst of changes as
// one. Errors: that of the context; those of [Failed].
func (w *Watch) Change(ctx context.Context) error {
	for changed := false; !changed; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-w.files.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) { // what was lost was a change
				return Failed(err)
			}
			changed = true
		case event := <-w.files.Events:
			changed = w.dirs[filepath.Dir(event.Name)] || w.Rebuilds(event)
		}
	}
	for {
		select {
		case <-w.files.Events:
		default:
			return nil
		}
	}
}

// Events returns the changes of files. [Watch.Rebuilds] reports which folders must be watched again.
func (w *Watch) Events() <-chan fsnotify.Event { return w.files.Events }

// Errors returns the errors of the watch of files.
func (w *Watch) Errors() <-chan error { return w.files.Errors }

// Ended returns the watched processes that have ended.
func (w *Watch) Ended() <-chan agent.Identified { return w.ended }

// Process watches a process that was seen to run: [Watch.Ended] will report its end.
//
//nolint:contextcheck,nolintlint // it waits until the watch is closed; nolintlint does not see what contextcheck does with it
func (w *Watch) Process(m *machine.Machine, id agent.Identified) error {
	if _, asked := w.endings[id]; asked || id.PID == 0 {
		return nil
	}
	ending, err := m.AwaitEnd(id.PID)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Failed(err)
	}
	w.endings[id] = ending
	go func() {
		if err == nil && ending.Wait(untilClosed) != nil {
			return
		}
		select {
		case w.ended <- id:
		case <-w.closed:
		}
	}()
	return nil
}

// Forget stops the watch of a process that has ended.
func (w *Watch) Forget(id agent.Identified) {
	if ending := w.endings[id]; ending != nil {
		_ = ending.Close()
	}
	w.endings[id] = nil
}

// Failed adds to an error of a watch the limit of the kernel that was reached.
func Failed(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fail.Errorf(fail.Unfit, "the limit of file watches is reached: %w", err).
			Hint("raise the limit: sudo sysctl fs.inotify.max_user_watches=524288")
	case errors.Is(err, syscall.EMFILE):
		return fail.Errorf(fail.Unfit, "the limit of inotify instances or of open files is reached: %w", err).
			Hint("raise the limit: sudo sysctl fs.inotify.max_user_instances=1024; or the limit of open files: ulimit -n 4096")
	}
	return fail.Errorf(fail.Failed, "watch files and processes: %w", err)
}
