package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"nbs-worker/internal/sim/rig"
)

// A file that is put somewhere is there whole or not at all, and leaves what was there if it cannot be.
func TestPut(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/a/b/file"
	rig.Must(t, Put(path, strings.NewReader("one")))
	rig.Equal(t, read(t, path), "one", "in new folders")
	rig.Must(t, os.WriteFile(path+".nbs", []byte("of a killed call"), 0o600))
	rig.Must(t, Put(path, strings.NewReader("two")))
	cut := errors.New("cut off")
	err := Put(path, io.MultiReader(strings.NewReader("thr"), iotest.ErrReader(cut)))
	rig.Check(t, errors.Is(err, cut), "%v", err)
	rig.Equal(t, read(t, path), "two", "after one that was cut off")
	names, err := os.ReadDir(filepath.Dir(path))
	rig.Check(t, err == nil && len(names) == 1, "%v, %v", names, err)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	rig.Must(t, err)
	return string(text)
}
