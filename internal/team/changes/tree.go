package changes

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/git"
)

// Tree is the git working tree in which an agent works.
type Tree struct {
	Top    string // its top folder
	Folder string // where the agent works, in it
	Branch string // "": a commit is checked out, and no branch
	Head   string // the commit that is checked out; "": the repository has no commit yet
	Main   Main   // the main working tree of the repository
	IsMain bool   // it is the main tree itself
	Own    bool   // it was made for the agent

	dir    git.Dir
	record *agent.Record
}

// Main is the main working tree of a repository.
type Main struct {
	Path   string
	Branch string // "": it has none, or there is no such tree
}

// folderOf returns the folder in which an agent works: the worktree that was made for it, that to which its claude has
// moved, or that of its start.
func folderOf(r *agent.Record, report *agent.Report) string {
	entered := ""
	if r.Process != nil && r.Process.Invocation == report.Invocation && report.Worktree != nil && filepath.IsAbs(report.Worktree.Path) {
		entered = report.Worktree.Path
	}
	return cmp.Or(entered, r.OwnWorktree.Path, r.LaunchCwd())
}

// Find finds the tree of an agent. Errors: NotFound if its folder is gone, or is in no git repository.
func Find(ctx context.Context, r *agent.Record, report *agent.Report) (*Tree, error) {
	folder := folderOf(r, report)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, fail.Errorf(fail.NotFound, "its folder %s is gone", human.Quote(folder))
	}
	places, err := git.Dir(folder).Run(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
	paths := strings.Split(places, "\n")
	if git.Code(err) > 0 || err == nil && len(paths) != 3 {
		return nil, fail.Errorf(fail.NotFound, "its folder %s is in no git working tree", human.Quote(folder))
	}
	if err != nil {
		return nil, err
	}
	own := r.OwnWorktree.Path != "" && folder == r.OwnWorktree.Path
	t := &Tree{Top: paths[0], Folder: folder, IsMain: paths[1] == paths[2], Own: own, dir: git.Dir(paths[0]), record: r}
	if t.Branch, err = t.run(ctx, nil, "symbolic-ref", "--quiet", "--short", "HEAD"); err != nil && git.Code(err) != 1 {
		return nil, err
	}
	if t.Head, err = t.commit(ctx, "HEAD"); err != nil && git.Code(err) != 1 {
		return nil, err
	}
	t.Main, err = t.main(ctx)
	return t, err
}

// run runs git in the tree, at its top.
func (t *Tree) run(ctx context.Context, env []string, args ...string) (string, error) {
	return t.dir.RunWith(ctx, env, args...)
}

// main returns the repository's main tree, which git lists first.
func (t *Tree) main(ctx context.Context) (Main, error) {
	list, err := t.run(ctx, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return Main{}, err
	}
	first, _, _ := strings.Cut(list, "\n\n")
	var m Main
	for line := range strings.Lines(first) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "worktree":
			m.Path = value
		case "branch":
			m.Branch = strings.TrimPrefix(value, "refs/heads/")
		}
	}
	return m, nil
}

// index is a copy of the tree's index.
type index struct {
	dir string
	env []string
}

// copyIndex copies the tree's index to a private folder, which the caller removes.
func (t *Tree) copyIndex(ctx context.Context) (*index, error) {
	from, err := t.run(ctx, nil, "rev-parse", "--git-path", "index")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "nbs-index-")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(from) {
		from = filepath.Join(t.Top, from)
	}
	to := filepath.Join(dir, "index")
	if err := copyFile(from, to); err != nil && !os.IsNotExist(err) {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return &index{dir, []string{"GIT_INDEX_FILE=" + to}}, nil
}

func (i *index) remove() { _ = os.RemoveAll(i.dir) }

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = cmp.Or(err, out.Close()); err != nil {
		return err
	}
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, info.ModTime()) // git reads the files again that are as new as the index
}
