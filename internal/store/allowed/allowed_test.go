package allowed

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// inProject is what a user vouches for in a project with an empty .nbs, and the folder of the seals.
func inProject(t *testing.T, keeper *trust.Keeper, project string) (*Files, string) {
	t.Helper()
	path := t.TempDir()
	storetest.Must(os.Mkdir(path+"/"+Folder, 0o700))
	nbs, err := private.OpenFolder(path)
	rig.Must(t, err)
	t.Cleanup(func() { storetest.Must(nbs.Close()) })
	return In(nbs, keeper, project, func() error { return nil }), path + "/" + Folder
}

// A file of the project counts with the user's seal: of its kind, at its place, as it was.
func TestSealOfAFile(t *testing.T) {
	t.Parallel()
	keeper := trust.NewKeeper(trust.Home(t.TempDir()))
	f, folder := inProject(t, keeper, "/srv/project")
	const name = "runbooks/deploy.md"
	storetest.WantKind(t, "never looked at", f.Check("runbook", name, []byte("one")), fail.Held)
	rig.Must(t, f.Seal("runbook", name, []byte("one")))
	rig.Must(t, f.Check("runbook", name, []byte("one")))
	storetest.WantKind(t, "changed", f.Check("runbook", name, []byte("two")), fail.Held)
	storetest.WantKind(t, "of another kind", f.Check("policy", name, []byte("one")), fail.Held)
	storetest.WantKind(t, "of another name", f.Check("runbook", "runbooks/other.md", []byte("one")), fail.Held)

	seals, err := filepath.Glob(folder + "/*")
	rig.Check(t, err == nil && len(seals) == 1, "%q, %v", seals, err)
	clone, cloned := inProject(t, keeper, "/srv/clone")
	rig.Must(t, os.Link(seals[0], filepath.Join(cloned, filepath.Base(seals[0]))))
	storetest.WantKind(t, "copied into another project", clone.Check("runbook", name, []byte("one")), fail.Held)

	storetest.Write(t, seals[0], "{")
	storetest.WantKind(t, "damaged", f.Check("runbook", name, []byte("one")), fail.Held)
	rig.Must(t, f.Seal("runbook", name, []byte("two")))
	rig.Must(t, f.Check("runbook", name, []byte("two")))
}
