package private

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// A file that is put somewhere is there whole or not at all, and leaves what was there if it cannot be.
func TestPutWhole(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/a/b/file"
	rig.Must(t, PutWhole(path, strings.NewReader("one")))
	rig.Equal(t, storetest.Read(t, path), "one", "in new folders")
	storetest.Write(t, path+".nbs", "of a killed call")
	rig.Must(t, PutWhole(path, strings.NewReader("two")))
	cut := errors.New("cut off")
	err := PutWhole(path, io.MultiReader(strings.NewReader("thr"), iotest.ErrReader(cut)))
	rig.Check(t, errors.Is(err, cut), "%v", err)
	rig.Equal(t, storetest.Read(t, path), "two", "after one that was cut off")
	names, err := os.ReadDir(filepath.Dir(path))
	rig.Check(t, err == nil && len(names) == 1, "%v, %v", names, err)
}
