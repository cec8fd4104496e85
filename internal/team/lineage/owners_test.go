package lineage

import (
	"os"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
)

// A project that was moved, with a link to it in its old place, is no other project.
func TestAnAdoptedProcessOfAProjectThatWasMoved(t *testing.T) {
	t.Parallel()
	dir, table := t.TempDir(), fake.New()
	rig.Must(t, os.Mkdir(dir+"/project", 0o700))
	rig.Must(t, os.Symlink("project", dir+"/before"))
	opened, err := store.Create(dir + "/project")
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(dir + "/state")))
	unlock, err := opened.LockVerb("alpha", "adopt", time.Now()) // which makes the folders
	rig.Must(t, err)
	unlock()
	r := agent.Record{Spec: agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: dir + "/before"}}
	r.Process = &agent.Process{Invocation: agent.NewInvocation(), Identity: table.Add(10, fake.Process{Args: []string{"claude"}}), Adopted: &agent.Adoption{}}
	rig.Must(t, opened.Insert(t.Context(), r))

	f := Finder{Machine: table.Machine(), Store: opened}
	rig.Check(t, !f.OfOther(&r, 10), "its own process is taken for another agent's")
	r.Handle = "beta"
	rig.Check(t, f.OfOther(&r, 10), "alpha's process is not taken for alpha's")
}
