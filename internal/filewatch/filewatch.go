// Package filewatch waits until something changes in a folder, as the kernel tells it
// (inotify): whoever waits costs nothing until then. What has changed is for the caller to
// see; a change that was missed between two looks is seen at the next.
//
// The package knows nothing of what is in the folders and imports no other of the program.
package filewatch

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Watcher waits for changes in folders.
type Watcher struct {
	events *os.File
	fd     int // the same; valid until events is closed
}

// New returns a watcher of no folder yet.
func New() (*Watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	return &Watcher{events: os.NewFile(uintptr(fd), "inotify"), fd: fd}, nil
}

// Close ends the watch.
func (w *Watcher) Close() error { return w.events.Close() }

// changes of a folder: files that are made, written, renamed and removed in it.
const changes = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_MOVE | unix.IN_DELETE

// Add watches a folder too; one that is watched already stays so.
// Errors: [os.ErrNotExist].
func (w *Watcher) Add(dir string) error {
	if _, err := unix.InotifyAddWatch(w.fd, dir, changes|unix.IN_ONLYDIR); err != nil {
		return &os.PathError{Op: "watch", Path: dir, Err: err}
	}
	return nil
}

// Wait returns when something has changed since the watch began or since the last Wait.
// Errors: that of the context.
func (w *Watcher) Wait(ctx context.Context) error {
	if err := w.events.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	wake := context.AfterFunc(ctx, func() { _ = w.events.SetReadDeadline(time.Unix(1, 0)) })
	defer wake()
	buffer := make([]byte, 16<<10) // a hundred changes or more; what is left makes the next Wait return
	if _, err := w.events.Read(buffer); err != nil && ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}
