package changes

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/git"
)

// What a turn has changed is found afterwards: by git's log of what was checked out, and by the times of files. A snapshot
// at its beginning would cost half a second of processor time for each prompt in a repository of 50,000 files.

// atTurn returns what was checked out when the agent's last turn began. Errors: NotFound if that time is unknown.
func (t *Tree) atTurn(ctx context.Context, began time.Time) (Base, error) {
	switch {
	case began.IsZero():
		return Base{}, fail.Errorf(fail.NotFound, "when its last turn began is unknown: it has had none, or its Claude runs no hooks")
	case t.Head == "":
		return t.BaseOf(ctx, "")
	}
	then, err := t.checkedOutAt(ctx, began)
	if git.Code(err) > 0 || err == nil && then == "" {
		then, err = t.Head, nil
	}
	return Base{then, "what was checked out when its last turn began, " + began.UTC().Format(time.RFC3339)}, err
}

// keepOfTurn drops the files that were last changed before the turn, and not committed in it.
func (c *Changes) keepOfTurn(ctx context.Context) error {
	committed := map[string]bool{}
	if c.Head != "" {
		text, err := c.run(ctx, nil, append(append([]string{"diff", "--ignore-submodules=dirty"}, plain...), "--name-only", "--no-renames", "-z", c.Base.Commit, c.Head, "--")...)
		if err != nil {
			return err
		}
		for name := range strings.SplitSeq(text, "\x00") {
			committed[name] = name != ""
		}
	}
	c.Files = slices.DeleteFunc(c.Files, func(f File) bool {
		return !committed[f.Path] && !committed[f.From] && c.isOlder(&f)
	})
	return nil
}

// isOlder reports whether a file was last changed before the turn. Of one that was deleted or renamed, its folder shows it.
func (c *Changes) isOlder(f *File) bool {
	path := filepath.Join(c.Top, f.Path)
	if f.Kind == "D" || f.Kind == "R" {
		path = filepath.Dir(filepath.Join(c.Top, cmp.Or(f.From, f.Path)))
	}
	info, err := os.Lstat(path)
	return err == nil && info.ModTime().Before(c.since)
}

// paths returns the names that a comparison is limited to; all of them for a base.
func (c *Changes) paths() (names []string) {
	if c.since.IsZero() {
		return nil
	}
	for i := range c.Files {
		for _, name := range []string{c.Files[i].From, c.Files[i].Path} {
			if name != "" {
				names = append(names, ":(top,literal)"+name)
			}
		}
	}
	return names
}
