package claude

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestSettingSources(t *testing.T) {
	t.Parallel()
	all := []string{"user", "project", "local"}
	for _, c := range []struct{ args, want []string }{
		{nil, all},
		{[]string{"--debug", "--add-dir", "user"}, all},
		{[]string{"--setting-sources", "user"}, []string{"user"}},
		{[]string{"--setting-sources=user,local"}, []string{"user", "local"}},
		{[]string{"--setting-sources", "user, project"}, []string{"user", "project"}},
		{[]string{"--setting-sources="}, nil},
		{[]string{"--setting-sources", "user", "--setting-sources=project"}, []string{"project"}},
		{[]string{"--setting-sources"}, all},
	} {
		got := settingSources(c.args)
		rig.Check(t, slices.Equal(got, c.want), "%q: %q, want %q", c.args, got, c.want)
	}
}

// A status line is run as the user: what another user can write decides nothing.
func TestUserStatusLineIsTheUsersOwn(t *testing.T) {
	t.Parallel()
	rig.NeedsRoot(t)
	for what, c := range map[string]struct {
		change func(path string) error
		own    bool
	}{
		"as it is":                     {func(string) error { return nil }, true},
		"a link of the user":           {moveAside, true},
		"open to the user's own group": {func(path string) error { return os.Chmod(path, 0o664) }, true},
		"open to another group": {func(path string) error {
			return errors.Join(os.Chown(path, 0, rig.Nobody), os.Chmod(path, 0o664))
		}, false},
		"open to all":              {func(path string) error { return os.Chmod(path, 0o666) }, false},
		"another user's":           {func(path string) error { return os.Chown(path, rig.Nobody, 0) }, false},
		"in a folder for all":      {func(path string) error { return os.Chmod(filepath.Dir(path), 0o777) }, false},
		"a link to another user's": {func(path string) error { return errors.Join(moveAside(path), os.Chown(path, rig.Nobody, 0)) }, false},
		"a link into a folder for all": {func(path string) error {
			return errors.Join(moveAside(path), os.Chmod(filepath.Join(filepath.Dir(path), "..", "dotfiles"), 0o777))
		}, false},
	} {
		for _, project := range []bool{false, true} {
			base := t.TempDir()
			folder := filepath.Join(base, ".claude")
			path := filepath.Join(folder, "settings.json")
			const settings = `{"statusLine":{"type":"command","command":"mine"}}`
			if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(path, []byte(settings), 0o600), c.change(path)); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			config, at := Config{dir: folder}, ""
			if project {
				config, at = Config{dir: t.TempDir()}, base
			}
			rig.Equal(t, config.UserStatusLine(at, nil) == "mine", c.own, "%s, of a project %t: counts as the user's own", what, project)
		}
	}
}

// moveAside puts a file into a folder of dotfiles, with a link in its place.
func moveAside(path string) error {
	folder := filepath.Join(filepath.Dir(path), "..", "dotfiles")
	target := filepath.Join(folder, "claude.json")
	return errors.Join(os.Mkdir(folder, 0o700), os.Rename(path, target), os.Symlink(target, path))
}
