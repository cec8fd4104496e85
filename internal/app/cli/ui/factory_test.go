package ui

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/caller"
)

// Each test runs on a machine like Linux and on one like macOS.
func TestMain(m *testing.M) { os.Exit(rig.Tight(fake.OnEach(m))) }

func TestVerbWithoutPowersGetsNoProject(t *testing.T) {
	t.Parallel()
	_, err := (&Factory{Verb: "new"}).permitted(nil)
	rig.Check(t, err != nil, "a verb without powers got a project")
}

// If the records cannot be read, it is unknown which agent calls: it gets no project, whatever the verb.
func TestCallerThatCannotBeFoundGetsNoProject(t *testing.T) {
	t.Parallel()
	opened, err := store.Create(t.TempDir())
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	rig.Must(t, os.WriteFile(filepath.Join(opened.Folder(), "sessions"), nil, 0o600))
	table := fake.New()
	table.Add(os.Getpid(), fake.Process{Parent: 10})
	table.Add(10, fake.Process{Parent: 1, Args: []string{"claude"}})
	f := &Factory{Verb: "list", Powers: map[string]caller.Rule{"list": {Right: caller.Anyone}}, Machine: table.Machine()}
	s, err := f.On(opened, nil)
	rig.Check(t, s == nil && err != nil, "%+v, %v", s, err)
}
