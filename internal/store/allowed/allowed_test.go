package allowed

import (
	"os"
	"path/filepath"
	"strings"
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
	rig.Equal(t, string(f.Sealed("runbook", name)), "one", "what was sealed")
	rig.Check(t, f.Sealed("policy", name) == nil, "a text was sealed as another kind")
	storetest.WantKind(t, "changed", f.Check("runbook", name, []byte("two")), fail.Held)
	storetest.WantKind(t, "of another kind", f.Check("policy", name, []byte("one")), fail.Held)
	storetest.WantKind(t, "of another name", f.Check("runbook", "runbooks/other.md", []byte("one")), fail.Held)

	seals, err := filepath.Glob(in.Path(Folder, "*"))
	rig.Check(t, err == nil && len(seals) == 1, "%q, %v", seals, err)
	clone := nbs.Another(t, in, "/srv/clone", Folder)
	rig.Must(t, os.Link(seals[0], clone.Path(Folder, filepath.Base(seals[0]))))
	storetest.WantKind(t, "copied into another project", In(clone).Check("runbook", name, []byte("one")), fail.Held)

	forged, err := os.ReadFile(seals[0])
	rig.Must(t, err)
	storetest.Write(t, seals[0], strings.Replace(string(forged), "b25l", "dHdv", 1)) // two for one, in base64
	rig.Check(t, f.Sealed("runbook", name) == nil, "a text that the user has not sealed")
	storetest.Write(t, seals[0], "{")
	storetest.WantKind(t, "damaged", f.Check("runbook", name, []byte("one")), fail.Held)
	rig.Must(t, f.Seal("runbook", name, []byte("two")))
	rig.Must(t, f.Check("runbook", name, []byte("two")))
}
