package smallfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/sim/rig"
)

func TestReadsAllUpToTheLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 1, 4096, 100_000} {
		want := bytes.Repeat([]byte("x"), size)
		rig.Must(t, os.WriteFile(path, want, 0o600))
		got, err := Read(path, size)
		rig.Check(t, err == nil && bytes.Equal(got, want), "%d bytes: read %d, %v", size, len(got), err)
		_, err = Read(path, size-1)
		rig.Check(t, size <= 0 || errors.As(err, new(TooLargeError)), "%d bytes, one more than allowed: %v", size, err)
	}
	got, err := Read("/proc/self/stat", 1<<12)
	rig.Check(t, err == nil && bytes.Contains(got, []byte("smallfile")), "%q, %v", got, err)
}

func TestWaitsForNoPipeAndNamesTheFile(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	rig.Must(t, unix.Mkfifo(pipe, 0o600))
	for path, want := range map[string]error{pipe: ErrIrregular, "/nonexistent/file": fs.ErrNotExist} {
		_, err := Read(path, 1)
		var at *fs.PathError
		rig.Check(t, errors.Is(err, want) && errors.As(err, &at) && at.Path == path, "%s: %v", path, err)
	}
}
