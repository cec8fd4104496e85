package supervisor

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
	"nbs-worker/internal/proc"
)

// watch tells of files that changed and of processes that ended, and sleeps meanwhile.
// Folders are watched and not files, which are replaced by renaming.
type watch struct {
	files *fsnotify.Watcher
	dirs  map[string]bool // all that were asked for
	// missing are the folders that do not exist yet, each with its nearest ancestor that
	// does, which is watched instead; and those of which only the going is asked for.
	missing map[string]string

	closed  chan struct{}
	ended   chan agent.Identified
	endings map[agent.Identified]*proc.Ending // nil for one that has ended: it is not asked for again
}

// newWatch watches the folders of files.
func newWatch(paths ...string) (*watch, error) {
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, watchFailed(err)
	}
	w := &watch{
		files: files, dirs: map[string]bool{}, missing: map[string]string{}, closed: make(chan struct{}),
		ended: make(chan agent.Identified), endings: map[agent.Identified]*proc.Ending{},
	}
	for _, path := range paths {
		if err := w.file(path); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

func (w *watch) close() {
	close(w.closed)
	for _, ending := range w.endings {
		if ending != nil {
			_ = ending.Close()
		}
	}
	_ = w.files.Close()
}

// file watches the folder of a file. One that is watched already costs a system call, which
// takes up a folder that was replaced.
func (w *watch) file(path string) error { return w.folder(filepath.Dir(path)) }

// entry watches whether a folder goes from the one above it, or together with that one, of
// which nothing else is wanted.
func (w *watch) entry(dir string) error {
	above, err := w.nearest(filepath.Dir(dir))
	if err == nil {
		w.missing[dir] = above
	}
	return err
}

func (w *watch) folder(dir string) error {
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
func (w *watch) nearest(dir string) (string, error) {
	for {
		err := w.files.Add(dir)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", watchFailed(err)
		}
		dir = filepath.Dir(dir)
	}
}

// below is the folder that is missing in an ancestor of dir.
func below(ancestor, dir string) string {
	next, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(dir, ancestor), "/"), "/")
	return filepath.Join(ancestor, next)
}

// rebuilds tells whether an event is of a watched folder itself, or of one that was missing.
func (w *watch) rebuilds(event fsnotify.Event) bool {
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

// change returns when a file has changed since the watch began or since the last call; to
// look anew after each of a burst of changes is not needed. Errors: that of the context.
func (w *watch) change(ctx context.Context) error {
	for changed := false; !changed; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-w.files.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) { // what was lost was a change
				return watchFailed(err)
			}
			changed = true
		case event := <-w.files.Events:
			changed = w.dirs[filepath.Dir(event.Name)] || w.rebuilds(event)
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

// process asks to be told of the end of a process that was seen to live.
func (w *watch) process(id agent.Identified) error {
	if _, asked := w.endings[id]; asked || id.PID == 0 {
		return nil
	}
	ending, err := proc.AwaitEnd(id.PID)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return watchFailed(err)
	}
	w.endings[id] = ending
	go func() {
		if err == nil && ending.Wait() != nil {
			return
		}
		select {
		case w.ended <- id:
		case <-w.closed:
		}
	}()
	return nil
}

// forget lets go of a process that has ended.
func (w *watch) forget(id agent.Identified) {
	if ending := w.endings[id]; ending != nil {
		_ = ending.Close()
	}
	w.endings[id] = nil
}

// watchFailed says which limit of the kernel was reached.
func watchFailed(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return agent.Errorf(agent.Unfit, "the kernel gives no further file watch: %w", err).
			Hint("raise the limit: sudo sysctl fs.inotify.max_user_watches=524288")
	case errors.Is(err, syscall.EMFILE):
		return agent.Errorf(agent.Unfit, "the kernel gives no further inotify instance or descriptor: %w", err).
			Hint("raise the limit: sudo sysctl fs.inotify.max_user_instances=1024, or that of descriptors: ulimit -n 4096")
	}
	return agent.Errorf(agent.Failed, "watch files and processes: %w", err)
}
