// Package projects keeps where the projects of the user are, in the user's state folder: a file for each, named by the
// hash of its path. A project becomes known when a command first changes something in it. Only the user forgets one: a
// project that is gone may be on a disk that is not mounted now.
//
// To be known gives a project no right: its records still need the user's seal.
package projects

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/trust"
)

const (
	limit  = 1 << 14 // bytes of a file
	suffix = ".json"
	nbs    = ".nbs"
)

// Drawer has the projects of one user.
type Drawer struct {
	tree  private.Tree
	heads private.Tree // the heads of their journals, which each event rewrites
}

// Of returns the projects of the user with this state folder. No project is known without one.
func Of(home trust.Home) *Drawer {
	if home == "" {
		return &Drawer{private.NoTree, private.NoTree}
	}
	return &Drawer{private.Tree(home.Path("projects")), private.Tree(home.Path("journals"))}
}

// Project is a project of the user.
type Project struct {
	Path  string    // absolute
	First time.Time // when it became known
	Last  time.Time // of the last event in its journal
	Gone  error     // why it cannot be opened, with the command that forgets it; nil: it is there
	Moved string    // the project that it became, if it is gone and known in another place
}

// entry is the file of a project.
type entry struct {
	Path    string      `json:"path"`
	First   time.Time   `json:"first"`
	Journal private.Sum `json:"journal,omitempty"` // of the first line of its journal, which a move does not change
}

// HashOf names a project by its path.
func HashOf(path string) string {
	const enough = 16 // bytes
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:enough])
}

// Note makes a project known. journal is the sum of the first line of its journal, or "" if it has none yet. A project
// that is known as it is costs one read.
func (d *Drawer) Note(path string, journal private.Sum, now time.Time) error {
	name := HashOf(path) + suffix
	known, err := d.read(name)
	if err == nil && (known.Journal == journal || journal == "") {
		return nil
	}
	if err != nil {
		known = entry{Path: path, First: now.UTC().Truncate(time.Second)}
	}
	known.Journal = journal
	return d.tree.HandOver(name, known, limit)
}

// Known returns the projects of the user, sorted by path, with those that are gone. A file that cannot be read is left
// out: the next command in its project writes it again. Errors: those of the state folder.
func (d *Drawer) Known() ([]Project, error) {
	names, err := d.tree.Names()
	if err != nil {
		return nil, err
	}
	var known []Project
	journals := map[private.Sum]string{} // of the projects that are there
	sums := map[string]private.Sum{}
	for _, name := range names {
		e, err := d.read(name)
		if err != nil {
			continue
		}
		p := Project{Path: e.Path, First: e.First, Last: d.last(name, e.First), Gone: goneOf(e.Path)}
		if sums[p.Path] = e.Journal; p.Gone == nil && e.Journal != "" {
			journals[e.Journal] = p.Path
		}
		known = append(known, p)
	}
	for i := range known {
		if p := &known[i]; p.Gone != nil && sums[p.Path] != "" && journals[sums[p.Path]] != "" {
			p.Moved = journals[sums[p.Path]]
			p.Gone = fail.Errorf(fail.NotFound, "the project %s was moved to %s", human.Quote(p.Path), human.Quote(p.Moved)).
				Hint("forget the old place: nbs-worker project forget %s", human.ShellWord(p.Path))
		}
	}
	slices.SortFunc(known, func(a, b Project) int { return cmp.Compare(a.Path, b.Path) })
	return known, nil
}

// Forget removes a project from the known ones. It changes nothing in the project, and no other file of the user's. The
// next change in the project makes it known again. Errors: NotFound if it is not known.
func (d *Drawer) Forget(path string) error {
	name := HashOf(path) + suffix
	if _, err := d.read(name); err != nil {
		return fail.Errorf(fail.NotFound, "the project %s is not known", human.Quote(path)).
			Hint("see the known ones: nbs-worker project list")
	}
	return d.tree.Remove(name)
}

// read reads the file of a project. Errors: also of a file that another program wrote.
func (d *Drawer) read(name string) (entry, error) {
	text, err := d.tree.Read(name, limit)
	if err != nil {
		return entry{}, err
	}
	var e entry
	if err := json.Unmarshal(text, &e); err != nil {
		return entry{}, err
	}
	if hash, ok := strings.CutSuffix(name, suffix); !ok || hash != HashOf(e.Path) || !filepath.IsAbs(e.Path) {
		return entry{}, errors.New("it names another project")
	}
	return e, nil
}

// last returns when the head of a project's journal was written; otherwise is the time if it has none.
func (d *Drawer) last(name string, otherwise time.Time) time.Time {
	stat, err := d.heads.Stat(strings.TrimSuffix(name, suffix))
	if err != nil {
		return otherwise
	}
	return time.Unix(stat.Mtim.Unix()).UTC().Truncate(time.Second)
}

// goneOf returns why a project is not where it was; nil if it is there. A project that is there may still not be
// opened: it may be damaged, or belong to another user.
func goneOf(path string) error {
	info, err := os.Lstat(filepath.Join(path, nbs))
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return forgetHint(fail.Errorf(fail.BadInput, "the project %s: its %s is not a folder", human.Quote(path), nbs), path)
	case errors.Is(err, fs.ErrNotExist):
		return forgetHint(fail.Errorf(fail.NotFound, "the project %s is gone", human.Quote(path)), path)
	}
	return forgetHint(fail.Errorf(fail.Failed, "the project %s cannot be reached: %w", human.Quote(path), err), path)
}

func forgetHint(err *fail.Error, path string) error {
	return err.Hint("forget it, unless its disk is only not mounted: nbs-worker project forget %s", human.ShellWord(path))
}
