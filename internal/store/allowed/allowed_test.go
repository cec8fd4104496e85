package allowed

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/storetest/nbs"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// A file of the project counts with the user's seal: of its kind, at its place, as it was.
func TestSealOfAFile(t *testing.T) {
	t.Parallel()
	in := nbs.New(t, Folder)
	f := In(in)
	const name = "runbooks/deploy.md"
	storetest.WantKind(t, "never looked at", f.Check("runbook", name, []byte("one")), fail.Held)
	rig.Must(t, f.Seal("runbook", name, []byte("one")))
	rig.Must(t, f.Check("runbook", name, []byte("one")))
	storetest.WantKind(t, "changed", f.Check("runbook", name, []byte("two")), fail.Held)
	storetest.WantKind(t, "of another kind", f.Check("policy", name, []byte("one")), fail.Held)
	storetest.WantKind(t, "of another name", f.Check("runbook", "runbooks/other.md", []byte("one")), fail.Held)

	seals, err := filepath.Glob(in.Path(Folder, "*"))
	rig.Check(t, err == nil && len(seals) == 1, "%q, %v", seals, err)
	clone := nbs.Another(t, in, "/srv/clone", Folder)
	rig.Must(t, os.Link(seals[0], clone.Path(Folder, filepath.Base(seals[0]))))
	storetest.WantKind(t, "copied into another project", In(clone).Check("runbook", name, []byte("one")), fail.Held)

	storetest.Write(t, seals[0], "{")
	storetest.WantKind(t, "damaged", f.Check("runbook", name, []byte("one")), fail.Held)
	rig.Must(t, f.Seal("runbook", name, []byte("two")))
	rig.Must(t, f.Check("runbook", name, []byte("two")))
}
