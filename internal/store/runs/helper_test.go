package runs

import (
	"os"
	"testing"

	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/storetest/nbs"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// inFolder is what is kept in an empty .nbs, and the folder in which it is.
func inFolder(t *testing.T) (*Runs, string) {
	t.Helper()
	in := nbs.New(t, Folder)
	return In(in), in.Path(Folder)
}
