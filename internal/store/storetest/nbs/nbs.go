// Package nbs makes the .nbs of projects for the tests of packages that keep sealed files there.
package nbs

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/trust"
)

// New returns an empty .nbs with these folders and one for locks, of a user without a key yet.
func New(t testing.TB, folders ...string) *sealed.Folder {
	t.Helper()
	f := &sealed.Folder{Keeper: trust.NewKeeper(trust.Home(t.TempDir())), Project: "/srv/project", Prepare: func() error { return nil }}
	return Another(t, f, f.Project, folders...)
}

// Another returns the .nbs of another project of the same user.
func Another(t testing.TB, like *sealed.Folder, project string, folders ...string) *sealed.Folder {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".nbs")
	rig.Must(t, os.Mkdir(path, 0o700))
	for _, folder := range append(folders, private.Locks) {
		rig.Must(t, os.Mkdir(filepath.Join(path, folder), 0o700))
	}
	opened, err := private.OpenFolder(path)
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, opened.Close()) })
	return &sealed.Folder{Folder: opened, Keeper: like.Keeper, Project: project, Prepare: like.Prepare}
}
