package store

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/trust"
)

// A file of the project counts with the user's seal: of its kind, at its place, as it was.
func TestSealOfAFile(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const name = "runbooks/deploy.md"
	storetest.WantKind(t, "never looked at", s.CheckFile("runbook", name, []byte("one")), agent.Held)
	rig.Must(t, s.SealFile("runbook", name, []byte("one")))
	rig.Must(t, s.CheckFile("runbook", name, []byte("one")))
	storetest.WantKind(t, "changed", s.CheckFile("runbook", name, []byte("two")), agent.Held)
	storetest.WantKind(t, "of another kind", s.CheckFile("policy", name, []byte("one")), agent.Held)
	storetest.WantKind(t, "of another name", s.CheckFile("runbook", "runbooks/other.md", []byte("one")), agent.Held)

	seals, err := filepath.Glob(path(s, allowed, "*"))
	rig.Check(t, err == nil && len(seals) == 1, "%q, %v", seals, err)
	clone := newStore(t)
	rig.Must(t, clone.prepare())
	rig.Must(t, os.Link(seals[0], path(clone, allowed, filepath.Base(seals[0]))))
	clone.Use(trust.NewKeeper(homeOf(s.Project())))
	storetest.WantKind(t, "copied into another project", clone.CheckFile("runbook", name, []byte("one")), agent.Held)

	storetest.Write(t, seals[0], "{")
	storetest.WantKind(t, "damaged", s.CheckFile("runbook", name, []byte("one")), agent.Held)
	rig.Must(t, s.SealFile("runbook", name, []byte("two")))
	rig.Must(t, s.CheckFile("runbook", name, []byte("two")))
}
