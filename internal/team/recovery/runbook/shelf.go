package runbook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/smallfile"
)

// Folder is the folder of a project's own pages.
const Folder = "runbooks"

// SealKind is the kind of the seals of pages.
const SealKind = "runbook"

// Source is where a page comes from.
type Source string

// The sources of pages.
const (
	BuiltIn Source = "built-in"
	Project Source = "project"
)

// Pages finds pages: the program's own, and those of a project, which run only with the user's seal.
type Pages struct {
	BuiltIn fs.FS  // NAME.md
	Project string // absolute path of the project root
	// Check checks the user's seal of a file of the project. Errors: Held.
	Check func(kind, name string, content []byte) error
}

// Found is a page that was found.
type Found struct {
	Name   string
	Source Source
	File   string // of a project's page: its path in the project
	Page   *Page  // nil when it cannot be read
	Text   string
	Err    error // why the page cannot be read
	Barred error // why the page must not run; nil: it may run
}

// List returns all pages, sorted by name. A copy of a built-in page in the project is left out.
func (s Pages) List() []Found {
	found := s.builtIn()
	for _, name := range s.projectNames() {
		if own, there := s.ofProject(name); there {
			found = append(found, own)
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// Find returns the page that runs under a name: the project's if it is allowed, otherwise the built-in one. barred is
// the project's page if it is not allowed. Errors: BadInput; NotFound.
func (s Pages) Find(name string) (found Found, barred *Found, err error) {
	if err := ParseName(name); err != nil {
		return Found{}, nil, err
	}
	own, isOwn := s.ofProject(name)
	if isOwn && own.Barred == nil {
		return own, nil, own.Err
	}
	if ours, is := s.builtInPage(name); is {
		if isOwn {
			barred = &own
		}
		return ours, barred, ours.Err
	}
	if isOwn {
		return own, nil, own.Err
	}
	return Found{}, nil, fail.Errorf(fail.NotFound, "there is no runbook %s", name).Hint("to see which there are: nbs-worker runbook list")
}

// Own returns the project's page of a name, for looking at it and allowing it. Errors: BadInput; NotFound.
func (s Pages) Own(name string) (Found, error) {
	if err := ParseName(name); err != nil {
		return Found{}, err
	}
	own, there := s.ofProject(name)
	if !there {
		return Found{}, fail.Errorf(fail.NotFound, "the project has no runbook of its own %s", human.Quote(path.Join(Folder, name+".md"))).
			Hint("to see which there are: nbs-worker runbook list")
	}
	return own, own.Err
}

func (s Pages) builtIn() []Found {
	files, _ := fs.Glob(s.BuiltIn, "*.md") // the pattern is well formed
	var found []Found
	for _, file := range files {
		if page, is := s.builtInPage(strings.TrimSuffix(file, ".md")); is {
			found = append(found, page)
		}
	}
	return found
}

func (s Pages) builtInPage(name string) (Found, bool) {
	text, err := fs.ReadFile(s.BuiltIn, name+".md")
	if err != nil {
		return Found{}, false
	}
	page, err := Parse(name, string(text))
	return Found{Name: name, Source: BuiltIn, Page: page, Text: string(text), Err: err}, true
}

// projectNames returns the names of the project's files that could be pages.
func (s Pages) projectNames() []string {
	files, _ := os.ReadDir(filepath.Join(s.Project, Folder))
	var names []string
	for _, file := range files {
		if name, is := strings.CutSuffix(file.Name(), ".md"); is && isName(name) {
			names = append(names, name)
		}
	}
	return names
}

// read reads a file of the project's folder of pages. It follows no link: the content of a page is shown, and a link
// could lead to a file that its reader may not read.
func (s Pages) read(file string) ([]byte, error) {
	for _, name := range []string{Folder, file} {
		info, err := os.Lstat(filepath.Join(s.Project, name))
		if err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s is a symbolic link", human.Quote(name))
		}
	}
	return smallfile.Read(filepath.Join(s.Project, file), pageLimit)
}

// ofProject reads a page of the project; a file without steps is prose, and no page. The file is read once, so that
// the checked text is the text that is shown and run.
func (s Pages) ofProject(name string) (Found, bool) {
	found := Found{Name: name, Source: Project, File: path.Join(Folder, name+".md")}
	text, err := s.read(found.File)
	if errors.Is(err, fs.ErrNotExist) {
		return Found{}, false
	}
	if err != nil {
		found.Err = fail.Errorf(fail.BadInput, "read runbook %s: %w", name, err)
		found.Barred = found.Err
		return found, true
	}
	if ours, is := s.builtInPage(name); is && ours.Text == string(text) {
		return Found{}, false
	}
	found.Text = string(text)
	if found.Page, found.Err = Parse(name, found.Text); errors.Is(found.Err, errProse) {
		return Found{}, false
	}
	if err := s.Check(SealKind, found.File, text); err != nil {
		found.Barred = fail.Errorf(fail.KindOf(err), "%w", err).
			Hint("look at what it would run, and allow it on a terminal: nbs-worker allow --runbook %s", name)
	}
	return found, true
}
