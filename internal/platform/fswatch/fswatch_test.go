package fswatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// watching watches the folders of files until the test ends.
func watching(t *testing.T, files ...string) *Watch {
	t.Helper()
	w, err := New()
	rig.Must(t, err)
	t.Cleanup(w.Close)
	for _, file := range files {
		rig.Must(t, w.File(file))
	}
	return w
}

// A folder that is missing is watched from the nearest one above it, step by step.
func TestWatchOfAFolderThatIsMade(t *testing.T) {
	t.Parallel()
	w := watching(t)
	root := t.TempDir()
	dir := filepath.Join(root, "a/b/c")
	file := filepath.Join(dir, "f")
	seen := func(what string) {
		t.Helper()
		rig.Must(t, w.File(file))
		late := rig.Patient(t)
		for {
			select {
			case event := <-w.files.Events:
				if event.Name == file && what == "file" || what == "folder" && w.Rebuilds(event) {
					return
				}
			case <-late.Done():
				t.Fatalf("no event of the %s", what)
			}
		}
	}
	if err := w.File(file); err != nil || w.missing[dir] != root {
		t.Fatalf("%v, %v", w.missing, err)
	}
	mustMake := func(path string) {
		t.Helper()
		rig.Must(t, os.Mkdir(path, 0o700))
	}
	mustMake(filepath.Join(root, "a"))
	seen("folder")
	mustMake(filepath.Join(root, "a/b"))
	seen("folder")
	mustMake(dir)
	seen("folder")
	if err := w.File(file); err != nil || len(w.missing) != 0 {
		t.Fatalf("all is there: %v, %v", w.missing, err)
	}
	rig.Must(t, os.WriteFile(file, nil, 0o600))
	seen("file")
	rig.Must(t, os.RemoveAll(dir))
	seen("folder")
	if err := w.File(file); err != nil || w.missing[dir] == "" {
		t.Errorf("it is gone again: %v, %v", w.missing, err)
	}
}

func TestWatchOfADanglingLink(t *testing.T) {
	t.Parallel()
	w := watching(t)
	dir := filepath.Join(t.TempDir(), "link")
	rig.Must(t, os.Symlink("nowhere", dir))
	if err := w.File(filepath.Join(dir, "f")); err != nil || w.missing[dir] == "" {
		t.Errorf("%v, %v", w.missing, err)
	}
}

func TestChangeSeesEachKind(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	w := watching(t, file)
	for _, change := range []func() error{
		func() error { return os.WriteFile(file, []byte("one"), 0o600) },
		func() error { return os.WriteFile(file, []byte("another"), 0o600) },
		func() error { return os.Rename(file, file+"2") },
		func() error { return os.Remove(file + "2") },
	} {
		rig.Must(t, change())
		err := w.Change(t.Context())
		rig.Check(t, err == nil, "%v", err)
	}
}

// Who waits for what does not come is woken by the context, and only by it.
func TestChangeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := watching(t, filepath.Join(t.TempDir(), "file"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Change(ctx) }()
	cancel()
	err := <-ended
	rig.Check(t, errors.Is(err, context.Canceled), "%v", err)
}

// Limits of the kernel are named with the command that raises them.
func TestWatchAtALimit(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EMFILE} {
		err := Failed(fmt.Errorf("inotify: %w", errno))
		if fail.KindOf(err) != fail.Unfit || len(fail.HintsOf(err)) != 1 {
			t.Errorf("%v: %v %q", errno, err, fail.HintsOf(err))
		}
	}
	err := Failed(syscall.EIO)
	rig.Check(t, fail.KindOf(err) == fail.Failed, "%v", err)
}
