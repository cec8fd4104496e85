package filewatch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWaitSeesEachKindOfChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Add(dir); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func() error{
		func() error { return os.WriteFile(file, []byte("one"), 0o600) },
		func() error { return os.WriteFile(file, []byte("another"), 0o600) },
		func() error { return os.Rename(file, file+"2") },
		func() error { return os.Remove(file + "2") },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if err := w.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// Who waits for what does not come is woken by the context, and only by it.
func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Add(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Wait(ctx) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAFolderThatIsNotThere(t *testing.T) {
	t.Parallel()
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Add(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
