package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watcher reads what changes on disk.
type watcher struct {
	Place
	file *os.File
	fd   int            // a duplicate of file's descriptor, by which the remaining events are read when file is closed
	dirs map[int]string // watch descriptor to folder
}

// changes are the events that can be steps.
const changes = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_MOVED_TO | unix.IN_DELETE

func newWatcher(place Place) (*watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	again, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), unix.Close(fd))
	}
	w := &watcher{Place: place, file: os.NewFile(uintptr(fd), "inotify"), fd: again, dirs: map[int]string{}}
	for _, dir := range w.folders() {
		if err := w.add(dir); err != nil {
			return nil, errors.Join(err, w.file.Close(), unix.Close(w.fd))
		}
	}
	return w, nil
}

func (w *watcher) folders() []string {
	folders := []string{
		w.NBS, w.NBS + "/locks", w.NBS + "/sessions", w.Launches,
		w.Config, w.Config + "/sessions", w.Config + "/projects", w.Tmux,
	}
	transcripts, _ := filepath.Glob(w.Config + "/projects/*") // the pattern is well formed
	return append(folders, transcripts...)
}

// add watches a folder. A folder that does not exist has no steps.
func (w *watcher) add(dir string) error {
	descriptor, err := unix.InotifyAddWatch(w.fd, dir, changes)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	w.dirs[descriptor] = dir
	return nil
}

// read returns the names of the steps that were made since the last call, waiting for one until the deadline.
// Errors: [os.ErrDeadlineExceeded], [os.ErrClosed].
func (w *watcher) read(deadline time.Time) ([]string, error) {
	if err := w.file.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	buffer := make([]byte, 64<<10)
	n, err := w.file.Read(buffer)
	if err != nil {
		return nil, err
	}
	return w.names(buffer[:n]), nil
}

// rest returns the steps that read has not returned. It is for the time when read is no longer called.
func (w *watcher) rest() []string {
	var steps []string
	buffer := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, buffer)
		if err != nil || n <= 0 { // EAGAIN: there is nothing left
			return steps
		}
		steps = append(steps, w.names(buffer[:n])...)
	}
}

// names returns the names of the steps in a buffer of inotify events.
func (w *watcher) names(data []byte) []string {
	var steps []string
	for len(data) >= unix.SizeofInotifyEvent {
		event := (*unix.InotifyEvent)(unsafe.Pointer(&data[0]))
		end := unix.SizeofInotifyEvent + int(event.Len)
		name := string(bytes.TrimRight(data[unix.SizeofInotifyEvent:end], "\x00"))
		data = data[end:]
		if step := w.step(w.dirs[int(event.Wd)], name, event.Mask); step != "" {
			steps = append(steps, step)
		}
	}
	return steps
}

// step returns the name of the step that a change is; "" for any other change.
func (w *watcher) step(dir, name string, mask uint32) string {
	switch dir {
	case w.NBS:
		return onlyOn(mask, unix.IN_MODIFY, name == "journal.jsonl", "journal")
	case w.NBS + "/locks":
		return onlyOn(mask, unix.IN_CLOSE_WRITE, name == w.Handle+".verb", "verb lock") +
			onlyOn(mask, unix.IN_CLOSE_WRITE, strings.HasSuffix(name, ".lease"), "lease")
	case w.NBS + "/sessions":
		return w.replaced("record", "removed", name, mask)
	case w.Launches:
		return w.replaced("launch file", "taken", name, mask)
	case w.Config:
		return onlyOn(mask, unix.IN_MODIFY, name == "history.jsonl", "prompt history")
	case w.Config + "/sessions":
		return onlyOn(mask, unix.IN_CREATE, strings.HasSuffix(name, ".key"), "claude's key") +
			onlyOn(mask, unix.IN_MOVED_TO|unix.IN_CLOSE_WRITE, strings.HasSuffix(name, ".json"), "registered") +
			onlyOn(mask, unix.IN_DELETE, strings.HasSuffix(name, ".json"), "unregistered")
	case w.Config + "/projects":
		_ = w.add(dir + "/" + name) // an error: the folder cannot be watched, and has no steps
		return onlyOn(mask, unix.IN_CREATE, true, "transcript folder")
	case w.Tmux:
		return onlyOn(mask, unix.IN_CREATE, true, "tmux socket")
	}
	return onlyOn(mask, unix.IN_CREATE, strings.HasSuffix(name, ".jsonl"), "transcript") +
		onlyOn(mask, unix.IN_MODIFY, strings.HasSuffix(name, ".jsonl"), "transcript line")
}

// replaced names the three steps of a file that is replaced as a whole: begun, renamed into place, removed.
func (w *watcher) replaced(what, end, name string, mask uint32) string {
	temporary := strings.HasPrefix(name, "."+w.Handle+".")
	whole := strings.HasPrefix(name, w.Handle+".")
	return onlyOn(mask, unix.IN_CREATE, temporary, what+" begun") +
		onlyOn(mask, unix.IN_MOVED_TO, whole, what) +
		onlyOn(mask, unix.IN_DELETE, whole, what+" "+end)
}

func onlyOn(mask, wanted uint32, is bool, step string) string {
	if mask&wanted != 0 && is {
		return step
	}
	return ""
}
