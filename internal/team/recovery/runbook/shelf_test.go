package runbook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

const small = "# Title of %\n\n```sh {step=look}\nnbs-worker list\n```\n"

func pageOf(title string) string { return strings.ReplaceAll(small, "%", title) }

// newShelf has two pages of the program, and of the project those that are given. Of those the
// user vouches for what has "sealed" in it.
func newShelf(t *testing.T, project map[string]string) Pages {
	t.Helper()
	root := t.TempDir()
	rig.Must(t, os.Mkdir(filepath.Join(root, Folder), 0o700))
	for name, text := range project {
		rig.Must(t, os.WriteFile(filepath.Join(root, Folder, name), []byte(text), 0o600))
	}
	return Pages{
		BuiltIn: fstest.MapFS{"restart.md": {Data: []byte(pageOf("restart"))}, "start.md": {Data: []byte(pageOf("start"))}},
		Project: root,
		Check: func(kind, name string, content []byte) error {
			if kind == SealKind && strings.HasPrefix(name, "runbooks/") && strings.Contains(string(content), "sealed") {
				return nil
			}
			return fail.Errorf(fail.Held, "%s is not allowed", name)
		},
	}
}

func TestProjectPageCountsWhenItIsAllowed(t *testing.T) {
	t.Parallel()
	s := newShelf(t, map[string]string{
		"restart.md": pageOf("sealed"), "start.md": pageOf("other"), "own.md": pageOf("own"), "deploy.md": pageOf("sealed too"),
		"damaged.md": "# T\n\n```sh {step=a}\nls\n```\n", "prose.md": "# T\n\n```sh\nls\n```\n", "README.md": pageOf("x"), "notes.txt": "",
	})
	for name, want := range map[string]struct {
		source         Source
		barred, hidden bool // the page that was found; one that would come first
	}{
		"restart": {Project, false, false}, "start": {BuiltIn, false, true}, "own": {Project, true, false}, "deploy": {Project, false, false},
	} {
		found, hidden, err := s.Find(name)
		if err != nil || found.Source != want.source || (found.Barred != nil) != want.barred || (hidden != nil) != want.hidden {
			t.Errorf("%s: %+v, %+v, %v", name, found, hidden, err)
		}
	}
	for name, kind := range map[string]fail.Kind{"damaged": fail.BadInput, "prose": fail.NotFound, "nothing": fail.NotFound, "../x": fail.BadInput, "README": fail.BadInput} {
		if _, _, err := s.Find(name); err == nil || fail.KindOf(err) != kind {
			t.Errorf("%s: %v; want kind %d", name, err, kind)
		}
	}
	var names []string
	for _, found := range s.List() {
		names = append(names, found.Name+" "+string(found.Source))
	}
	wantLines(t, "list", names, "damaged project", "deploy project", "own project", "restart built-in", "restart project", "start built-in", "start project")
	if own, err := s.Own("own"); err != nil || own.File != "runbooks/own.md" || !strings.Contains(strings.Join(fail.HintsOf(own.Barred), ""), "nbs-worker allow --runbook own") {
		t.Errorf("%+v, %v", own, err)
	}
	if _, err := s.Own("prose"); fail.KindOf(err) != fail.NotFound {
		t.Error(err)
	}
}

// In a copy of the program's sources its pages are not the project's.
func TestPageThatIsAsTheProgramsIsNone(t *testing.T) {
	t.Parallel()
	s := newShelf(t, map[string]string{"restart.md": pageOf("restart")})
	if found := s.List(); len(found) != 2 {
		t.Errorf("%+v", found)
	}
	if found := (Pages{BuiltIn: s.BuiltIn, Project: "/nonexistent", Check: s.Check}).List(); len(found) != 2 {
		t.Errorf("without a project: %+v", found)
	}
}

// A link in the folder of pages, or in its place, leads nowhere: what a page holds is shown.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret.md")
	rig.Must(t, os.WriteFile(secret, []byte(pageOf("sealed SWORDFISH")), 0o600))
	s := newShelf(t, nil)
	rig.Must(t, os.Symlink(secret, filepath.Join(s.Project, Folder, "own.md")))
	_, _, err := s.Find("own")
	rig.Check(t, err != nil && strings.Contains(err.Error(), "is a symbolic link") && !strings.Contains(err.Error(), "SWORDFISH"), "%v", err)
	rig.Must(t, os.Remove(filepath.Join(s.Project, Folder, "own.md")))
	rig.Must(t, os.Remove(filepath.Join(s.Project, Folder)))
	rig.Must(t, os.Symlink(filepath.Dir(secret), filepath.Join(s.Project, Folder)))
	_, _, err = s.Find("secret")
	rig.Check(t, err != nil && !strings.Contains(err.Error(), "SWORDFISH"), "a folder that is a link: %v", err)
}
