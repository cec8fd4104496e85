package changes

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/git"
)

// Changes are what an agent has changed since a base.
type Changes struct {
	*Tree

	Base        Base
	Files       []File
	Commits     int  // on its branch since the base
	Uncommitted int  // files
	Unmerged    int  // commits that the branch of the main tree does not have
	Merged      int  // commits of the agent that the branch of the main tree has
	InMain      bool // no commit is merged, but the branch of the main tree has each file as it is here

	since time.Time // zero: since the base
}

// File is a changed file.
type File struct {
	Path, From     string // From: the name before; "": the same
	Kind           string // git's letter; see Word
	Added, Removed int    // lines
	Binary         bool   // it has no lines
	Uncommitted    bool   // some of the change is not committed
}

// Word returns what happened to the file.
func (f *File) Word() string {
	switch f.Kind {
	case "A":
		return "added"
	case "D":
		return "deleted"
	case "R":
		return "renamed"
	case "T":
		return "retyped" // such as a link in the place of a file
	}
	return "modified"
}

// Wanted says what an agent's tree is compared with.
type Wanted struct {
	SinceTurn bool
	Base      string // otherwise a commit; "": where its work began
}

// Of returns what an agent has changed. Errors: NotFound without a folder, a repository, the named commit or a snapshot.
func Of(ctx context.Context, r *agent.Record, report *agent.Report, wanted Wanted) (*Changes, error) {
	t, err := Find(ctx, r, report)
	if err != nil {
		return nil, err
	}
	c := &Changes{Tree: t}
	if wanted.SinceTurn {
		c.since = report.Began
		c.Base, err = t.atTurn(ctx, c.since)
	} else {
		c.Base, err = t.BaseOf(ctx, wanted.Base)
	}
	if err != nil {
		return nil, err
	}
	return c, c.withIndex(ctx, func(index []string) error { return c.read(ctx, index) })
}

// withIndex calls do with an index in which the files that are not tracked are known.
func (c *Changes) withIndex(ctx context.Context, do func(index []string) error) error {
	index, err := c.copyIndex(ctx)
	if err != nil {
		return err
	}
	defer index.remove()
	const someRefused = 1 // such as a repository in the tree that has no commit
	if _, err := c.run(ctx, index.env, "add", "--intent-to-add", "--ignore-errors", "--", "."); err != nil && git.Code(err) != someRefused {
		return err
	}
	return do(index.env)
}

// compared are the arguments of each comparison with a base. It does not look into submodules: they have configurations of
// their own.
func compared(base string, options ...string) []string {
	return append(append([]string{"diff", "--ignore-submodules=dirty", "--find-renames"}, options...), base, "--")
}

// plain shows a difference as git itself does, so that git apply reads it.
var plain = []string{"--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short"}

func (c *Changes) read(ctx context.Context, index []string) error {
	text, err := c.run(ctx, index, compared(c.Base.Commit, append(plain, "--raw", "--numstat", "-z")...)...)
	if err != nil {
		return err
	}
	if c.Files, err = parse(text); err != nil {
		return err
	}
	if err := c.readCommits(ctx); err != nil {
		return err
	}
	if !c.since.IsZero() {
		if err := c.keepOfTurn(ctx); err != nil {
			return err
		}
	}
	if err := c.readUncommitted(ctx, index); err != nil {
		return err
	}
	return c.readMerged(ctx, index)
}

// readCommits counts the commits since the base, and those that a merge would bring.
func (c *Changes) readCommits(ctx context.Context) (err error) {
	if c.Commits, err = c.count(ctx, c.Base.Commit+"..HEAD"); err != nil || c.IsMain || c.Main.Branch == "" {
		return err
	}
	c.Unmerged, err = c.count(ctx, "refs/heads/"+c.Main.Branch+"..HEAD")
	return err
}

// count counts commits; 0 in a repository without a commit.
func (c *Changes) count(ctx context.Context, which string) (int, error) {
	if c.Head == "" {
		return 0, nil
	}
	text, err := c.run(ctx, nil, "rev-list", "--count", which, "--")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

// readUncommitted marks the files whose change is not all committed.
func (c *Changes) readUncommitted(ctx context.Context, index []string) error {
	open, err := c.names(ctx, index, cmp.Or(c.Head, c.Base.Commit))
	if err != nil {
		return err
	}
	for i := range c.Files {
		f := &c.Files[i]
		if f.Uncommitted = open[f.Path] || open[f.From]; f.Uncommitted {
			c.Uncommitted++
		}
	}
	return nil
}

// Patch returns the difference, for git apply.
func (c *Changes) Patch(ctx context.Context) (text string, err error) {
	if len(c.Files) == 0 {
		return "", nil
	}
	err = c.withIndex(ctx, func(index []string) error {
		text, err = c.run(ctx, index, append(compared(c.Base.Commit, append(plain, "--patch", "--binary")...), c.paths()...)...)
		return err
	})
	if text != "" {
		text += "\n"
	}
	return text, err
}

// Page shows the difference on the terminal of this process, by the user's own pager and diff tool.
func (c *Changes) Page(ctx context.Context, env ...string) error {
	config, err := c.dir.ReadConfig(ctx)
	if err != nil {
		return err
	}
	return c.withIndex(ctx, func(index []string) error {
		var options []string
		if config.HasForeignDiff() {
			options = []string{"--no-ext-diff", "--no-textconv"}
		}
		return c.dir.Page(config, append(env, index...), append(compared(c.Base.Commit, options...), c.paths()...)...)
	})
}

// Pager returns the command line of the user's pager. Errors: as of [git.Dir.ReadConfig].
func (c *Changes) Pager(ctx context.Context) (string, error) {
	config, err := c.dir.ReadConfig(ctx)
	return config.Pager(), err
}

// parse reads what git diff --raw --numstat -z says: first the kind of each change, then the lines.
func parse(text string) (files []File, err error) {
	fields := strings.Split(text, "\x00")
	next := func() (field string) {
		if len(fields) > 0 {
			field, fields = fields[0], fields[1:]
		}
		return field
	}
	for len(fields) > 0 && strings.HasPrefix(fields[0], ":") {
		words := strings.Fields(next())
		const kind = 4
		if len(words) <= kind {
			return nil, fail.Errorf(fail.Failed, "git diff: it said what this program does not know")
		}
		f := File{Kind: words[kind][:1], Path: next()}
		if f.Kind == "R" || f.Kind == "C" {
			f.From, f.Path = f.Path, next()
		}
		files = append(files, f)
	}
	for i := range files {
		added, rest, _ := strings.Cut(next(), "\t")
		removed, path, _ := strings.Cut(rest, "\t")
		if path == "" { // a renamed one: both names follow
			next()
			next()
		}
		if files[i].Binary = added == "-"; !files[i].Binary {
			files[i].Added, _ = strconv.Atoi(added)
			files[i].Removed, _ = strconv.Atoi(removed)
		}
	}
	return files, nil
}
