package runs

import (
	"os"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// inFolder is what is kept in an empty .nbs, and the folder in which it is.
func inFolder(t *testing.T) (*Runs, string) {
	t.Helper()
	path := t.TempDir()
	storetest.Must(os.Mkdir(path+"/"+Folder, 0o700))
	nbs, err := private.OpenFolder(path)
	rig.Must(t, err)
	t.Cleanup(func() { storetest.Must(nbs.Close()) })
	return In(nbs, trust.NewKeeper(trust.Home(t.TempDir())), "/srv/project"), path + "/" + Folder
}
