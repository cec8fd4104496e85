package skill

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func page(version string) Page {
	return Page{Description: `Use it "often": yes.`, Version: version, Body: "# A page\n"}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

func has(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	rig.Must(t, err)
	return string(text)
}

// is checks what is installed.
func is(t *testing.T, place Place, version string, changed bool) {
	t.Helper()
	v, c := place.Installed()
	rig.Check(t, v == version && c == changed, "installed is %q, changed %t; want %q, %t", v, c, version, changed)
}

// tree returns the files in a folder.
func tree(t *testing.T, dir string) (found []string) {
	t.Helper()
	rig.Must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			path, _ = filepath.Rel(dir, path)
			found = append(found, path)
		}
		return err
	}))
	return found
}

// A page is written, stays as it is, is renewed by another version, and is removed with the folders that are empty then.
func TestAPageComesAndGoes(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(dir string) Place{"project": InProject, "user": OfUser, "plugin": AsPlugin} {
		dir := filepath.Join(t.TempDir(), "new")
		place := of(dir)
		for _, c := range []struct {
			version string
			changed bool
		}{{"1.0", true}, {"1.0", false}, {"1.1", true}} {
			changed, err := place.Install(page(c.version), false)
			rig.Check(t, err == nil && changed == c.changed, "%s, %s: %t, %v", name, c.version, changed, err)
			is(t, place, c.version, false)
			rig.Equal(t, has(t, place.Page()), string(page(c.version).Text()), "the page of %s", name)
		}
		want := 1
		if name == "plugin" {
			want = 3
			rig.Check(t, strings.Contains(has(t, filepath.Join(dir, ".claude-plugin/plugin.json")), `"version": "1.1"`), "the version of the plugin")
		}
		put(t, filepath.Join(dir, "other"), "of the user")
		removed, err := place.Remove(false)
		rig.Check(t, err == nil && len(removed) == want, "%s: %v, %v", name, removed, err)
		left, err := os.ReadDir(dir)
		rig.Check(t, err == nil && len(left) == 1, "%s leaves %v, %v", name, left, err)
		_, err = place.Remove(false)
		rig.Check(t, fail.KindOf(err) == fail.NotFound, "%s, again: %v", name, err)
	}
}

// What a user wrote, or changed, is replaced and removed only by force; and if one file is not ours, none is written.
func TestAForeignPageStays(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(ours string) string{
		"another's":      func(string) string { return "---\nname: nbs-worker\n---\n" },
		"with more":      func(ours string) string { return ours + "More.\n" },
		"changed words":  func(ours string) string { return strings.Replace(ours, "often", "never", 1) },
		"empty":          func(string) string { return "" },
		"of over 1 MB":   func(ours string) string { return ours + strings.Repeat("More.\n", 1<<18) },
		"a line between": func(ours string) string { return strings.Replace(ours, "metadata:\n", "metadata:\n  a: b\n", 1) },
	} {
		place := AsPlugin(t.TempDir())
		text := change(string(page("1.0").Text()))
		put(t, place.Page(), text)
		_, err := place.Install(page("1.1"), false)
		rig.Check(t, fail.KindOf(err) == fail.Conflict && strings.Contains(strings.Join(fail.HintsOf(err), "\n"), "--force"), "install over a page %s: %v", name, err)
		_, err = place.Remove(false)
		rig.Check(t, fail.KindOf(err) == fail.Conflict, "remove a page %s: %v", name, err)
		rig.Equal(t, has(t, place.Page()), text, "a page %s", name)
		rig.Check(t, len(tree(t, place.base)) == 1, "%s: %v were written", name, tree(t, place.base))
		changed, err := place.Install(page("1.1"), true)
		rig.Check(t, err == nil && changed, "%s by force: %v", name, err)
		is(t, place, "1.1", false)
	}
	for _, file := range []string{".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"} {
		place := AsPlugin(t.TempDir())
		_, err := place.Install(page("1.0"), false)
		rig.Must(t, err)
		put(t, filepath.Join(place.base, file), `{"name": "mine"}`)
		_, err = place.Install(page("1.1"), false)
		rig.Check(t, fail.KindOf(err) == fail.Conflict, "over another %s: %v", file, err)
		is(t, place, "1.0", false)
		_, err = place.Remove(false)
		rig.Check(t, fail.KindOf(err) == fail.Conflict && len(tree(t, place.base)) == 3, "remove beside another %s: %v", file, err)
	}
}

// No link is followed below the place, whether forced or not; the place itself may be a link.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, at := range []string{".claude", ".claude/skills", ".claude/skills/nbs-worker", ".claude/skills/nbs-worker/SKILL.md"} {
		dir, other := t.TempDir(), t.TempDir()
		rig.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, at)), 0o700))
		rig.Must(t, os.Symlink(other, filepath.Join(dir, at)))
		_, err := InProject(dir).Install(page("1.0"), true)
		rig.Check(t, fail.KindOf(err) == fail.BadInput, "%s: %v", at, err)
		_, err = InProject(dir).Remove(true)
		rig.Check(t, fail.KindOf(err) == fail.BadInput, "%s: %v", at, err)
		rig.Check(t, len(tree(t, other)) == 0, "%s: %v", at, tree(t, other))
	}
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	rig.Must(t, os.Symlink(dir, link))
	_, err := OfUser(link).Install(page("1.0"), false)
	rig.Check(t, err == nil && slices.Equal(tree(t, dir), []string{"skills/nbs-worker/SKILL.md"}), "%v, %v", tree(t, dir), err)
}

// The version is that of a page by nbs-worker, changed or not.
func TestVersionOfAPage(t *testing.T) {
	t.Parallel()
	place := InProject(t.TempDir())
	is(t, place, "", false)
	put(t, place.Page(), "---\nname: nbs-worker\nmetadata:\n  version: \"7\"\n---\n")
	is(t, place, "", true)
	put(t, place.Page(), string(page(`1.0 "beta"`).Text())+"More.\n")
	is(t, place, `1.0 "beta"`, true)
	rig.Must(t, os.Remove(place.Page()))
	rig.Must(t, os.Mkdir(place.Page(), 0o700))
	_, err := place.Install(page("1.0"), true)
	rig.Check(t, fail.KindOf(err) == fail.BadInput && !errors.Is(err, fs.ErrNotExist), "over a folder: %v", err)
}

// Calls at the same time do not disturb each other.
func TestSeveralInstallAtOnce(t *testing.T) {
	t.Parallel()
	place := AsPlugin(filepath.Join(t.TempDir(), "new"))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, err := place.Install(page("1.0"), false)
			rig.Check(t, err == nil, "install: %v", err)
		})
	}
	all.Wait()
	is(t, place, "1.0", false)
	rig.Check(t, len(tree(t, place.base)) == 3, "%v", tree(t, place.base))
}

// A file where the folder is to be is named, and stays.
func TestAFileIsNoPlace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "of the user")
	for _, base := range []string{path, filepath.Join(path, "below")} {
		_, err := AsPlugin(base).Install(page("1.0"), true)
		rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "is not a folder"), "install: %v", err)
		_, err = AsPlugin(base).Remove(true)
		rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "is not a folder"), "remove: %v", err)
	}
	rig.Equal(t, has(t, path), "of the user", "the file")
}
