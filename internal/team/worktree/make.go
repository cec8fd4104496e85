package worktree

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/platform/git"
)

// Wanted says which tree is made.
type Wanted struct {
	Handle  agent.Handle
	Project string // the root of the agent's project; its repository gets the tree
	Branch  string // "": nbs/<handle>; made if it does not exist
	Base    string // where a new branch begins; "": at what is checked out in the project
	Folder  string // where trees are made; "": beside the repository, in <repository>.nbs
}

// Plan is a tree that can be made.
type Plan struct {
	Tree
	Main      string // the working tree that the project is in
	NewBranch bool
	Left      bool // it is there, at least in part: a command was killed, its agent was dismissed, or it was restored
}

// NewPlan checks everything that can be checked before a tree is made, and changes nothing. Errors: NotFound outside of
// a repository; BadInput; Conflict if the folder or the branch is in use.
func NewPlan(ctx context.Context, w Wanted) (p Plan, err error) {
	main, common, err := repository(ctx, w.Project)
	if err != nil {
		return p, fail.Errorf(fail.KindOf(err), "make a worktree: %w", err).Hint("to work in the project itself, leave --worktree away")
	}
	p = Plan{Main: main, Tree: Tree{Handle: w.Handle, Project: w.Project, OwnWorktree: agent.OwnWorktree{
		Common: common, Branch: cmp.Or(w.Branch, agent.OwnBranch(w.Handle)),
	}}}
	if err := agent.CheckBranch(p.Branch); err != nil {
		return p, err
	}
	if err := mendEntries(common); err != nil {
		return p, err
	}
	in, first, err := place(ctx, git.Dir(common), w.Folder)
	if err != nil {
		return p, err
	}
	p.Path = filepath.Join(in, string(w.Handle))
	if err := checkPlace(p.Path, first, main); err != nil {
		return p, err
	}
	if p.Base, p.NewBranch, err = begin(ctx, git.Dir(main), p.Branch, w.Base); err != nil {
		return p, err
	}
	return p, p.checkFree(ctx)
}

// place returns the folder in which trees are made, the wanted one or the usual one, and the first worktree of the
// repository.
func place(ctx context.Context, common git.Dir, wanted string) (in, first string, err error) {
	first, err = mainTree(ctx, common)
	return folder.Real(cmp.Or(wanted, first+".nbs")), first, err
}

// mainTree returns the first worktree of a repository.
func mainTree(ctx context.Context, common git.Dir) (string, error) {
	all, err := entries(ctx, common)
	if err != nil || len(all) == 0 {
		return "", errors.Join(err, fail.Errorf(fail.Failed, "git lists no worktree of %s", human.Quote(string(common))))
	}
	return all[0].path, nil
}

// checkPlace refuses a folder in a working tree: git would show it there as a file, and other programs delete
// worktrees below .claude.
func checkPlace(path string, trees ...string) error {
	for _, tree := range trees {
		if folder.Contains(tree, path) {
			return fail.Errorf(fail.BadInput, "the worktree %s would be in the working tree %s", human.Quote(path), human.Quote(tree)).
				Hint("name a folder outside of it: export NBS_WORKTREES=DIR")
		}
	}
	return nil
}

// begin returns the commit at which a branch begins, and whether the branch has to be made.
func begin(ctx context.Context, main git.Dir, branch, base string) (commit string, isNew bool, err error) {
	tip, err := main.Run(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch+"^{commit}")
	if err != nil && git.Code(err) != 1 {
		return "", false, err
	}
	from, err := main.Run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", cmp.Or(base, "HEAD")+"^{commit}")
	if err != nil {
		if git.Code(err) != 1 && git.Code(err) != 128 {
			return "", false, err
		}
		if base == "" {
			return "", false, fail.Errorf(fail.BadInput, "the repository has no commit yet").Hint("git commit")
		}
		return "", false, fail.Errorf(fail.BadInput, "the base %s is no commit, branch or tag", human.Quote(base))
	}
	if tip == "" {
		return from, true, nil
	}
	fork, err := main.Run(ctx, "merge-base", from, tip)
	if err != nil && git.Code(err) != 1 {
		return "", false, err
	}
	return cmp.Or(fork, tip), false, nil
}

// checkFree checks that neither the folder nor the branch is in use, unless this very tree was left: by a killed command,
// a dismissal or a restore.
func (p *Plan) checkFree(ctx context.Context) error {
	all, err := entries(ctx, p.common())
	if err != nil {
		return err
	}
	for _, e := range all {
		at := e.path == p.Path || folder.Same(e.path, p.Path)
		switch {
		case at && e.isLocked && e.locked == p.reason() && (e.branch == p.Branch || e.branch == ""):
			p.Left = true
			return nil
		case at && !e.isLocked && folder.Exists(p.Path) && (e.branch == p.Branch || e.branch == "" && p.isHalfMade(ctx)):
			p.Left = true
			return nil
		case at && e.isGone && !folder.Exists(p.Path):
			return p.errMissing()
		case at && e.isLocked && strings.HasPrefix(e.locked, ours):
			return fail.Errorf(fail.Conflict, "the worktree %s is that of %s", human.Quote(p.Path), human.Legible(strings.TrimPrefix(e.locked, ours))).
				Hint("to have another one: take another handle, or name another folder and branch: NBS_WORKTREES=DIR nbs-worker spawn %s --worktree=BRANCH", p.Handle)
		case at:
			return fail.Errorf(fail.Conflict, "git has another worktree at %s", human.Quote(p.Path)).
				Hint("to see it: git worktree list").
				Hint("to work in it: nbs-worker spawn %s --cwd %s", p.Handle, human.ShellWord(p.Path))
		case e.branch == p.Branch && !folder.Exists(e.path):
			return fail.Errorf(fail.Conflict, "git has the branch %s checked out in %s, and that folder is not there", human.Quote(p.Branch), human.Quote(e.path)).
				Hint("if you have moved it: git worktree repair NEW-PATH").
				Hint("if it was deleted: git worktree prune").
				Hint("name another branch: --worktree=BRANCH")
		case e.branch == p.Branch:
			return fail.Errorf(fail.Conflict, "the branch %s is checked out in %s", human.Quote(p.Branch), human.Quote(e.path)).
				Hint("name another branch: --worktree=BRANCH").
				Hint("to work there together: nbs-worker spawn %s --cwd %s", p.Handle, human.ShellWord(e.path))
		}
	}
	if _, err := os.Lstat(p.Path); !errors.Is(err, os.ErrNotExist) && !holdsOnly(p.Path) { // a killed git leaves an empty one
		return errors.Join(fail.Errorf(fail.Conflict, "%s is there already, and is no worktree of this agent", human.Quote(p.Path)).
			Hint("move it aside, or name another folder: export NBS_WORKTREES=DIR"), err)
	}
	return nil
}

// Make makes the planned tree.
func (p *Plan) Make(ctx context.Context) error {
	if p.Left {
		if begun, err := p.takeBack(ctx); err != nil || !begun {
			return cmp.Or(err, p.complete(ctx))
		}
	}
	const private = 0o700
	if err := os.MkdirAll(filepath.Dir(p.Path), private); err != nil {
		return fail.Errorf(fail.Failed, "make the worktree: %w", err)
	}
	args := []string{"worktree", "add", "--quiet", "--lock", "--reason", p.reason()}
	if p.NewBranch {
		args = append(args, "--no-track", "-b", p.Branch, p.Path, p.Base)
	} else {
		args = append(args, p.Path, p.Branch)
	}
	if _, err := git.Dir(p.Main).Run(ctx, args...); err != nil {
		_ = p.relock(context.WithoutCancel(ctx), p.reason()) // if git has made it in part, the next call completes it
		return fail.Errorf(fail.Failed, "make the worktree: %w", err)
	}
	return p.checkIsTree(ctx)
}

// errMissing is the error for a worktree that git knows and that is not in its place.
func (t *Tree) errMissing() error {
	return fail.Errorf(fail.Conflict, "git has a worktree at %s, and that folder is not there", human.Quote(t.Path)).
		Hint("if you have moved it: git worktree repair NEW-PATH").
		Hint("if it was deleted: git worktree remove -f -f %s", human.ShellWord(t.Path))
}

// takeBack makes git forget a tree that a killed command has left without any file, and returns false if it has files.
func (t *Tree) takeBack(ctx context.Context) (bool, error) {
	if !holdsOnly(t.Path, gitLink) {
		return false, nil
	}
	if t.checkIsTree(ctx) == nil && !t.isHalfMade(ctx) {
		return false, nil // its files were deleted
	}
	if err := os.Remove(filepath.Join(t.Path, gitLink)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	if err := os.Remove(t.Path); err != nil {
		return false, err
	}
	return true, t.forget(ctx)
}

// mendHead writes what git has of the tree's branch. A git that fails deletes that first, and may be killed then.
func (p *Plan) mendHead() error {
	text, err := os.ReadFile(filepath.Join(p.Path, gitLink))
	dir, is := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !is || !folder.Contains(filepath.Join(p.Common, "worktrees"), dir) || !folder.Exists(dir) {
		return nil //nolint:nilerr // checkIsTree says what is wrong
	}
	file, err := os.OpenFile(filepath.Join(dir, "HEAD"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString("ref: refs/heads/" + p.Branch + "\n")
	return errors.Join(err, file.Close())
}

// isHalfMade reports whether git was killed before it had made the tree: it writes the index last.
func (t *Tree) isHalfMade(ctx context.Context) bool {
	dir, err := t.gitDir(ctx)
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(dir, "index"))
	return errors.Is(err, os.ErrNotExist)
}

// holdsOnly reports whether a folder is there, not a link to one, and holds nothing but files with some names.
func holdsOnly(path string, names ...string) bool {
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return false
	}
	found, err := os.ReadDir(path)
	return err == nil && !slices.ContainsFunc(found, func(d os.DirEntry) bool { return !slices.Contains(names, d.Name()) })
}

// complete writes the files that a killed command has not written. It overwrites none.
func (p *Plan) complete(ctx context.Context) error {
	if !folder.Exists(p.Path) {
		return p.errMissing()
	}
	if err := cmp.Or(p.mendHead(), p.checkIsTree(ctx), p.relock(ctx, p.reason())); err != nil {
		return err
	}
	if !p.isHalfMade(ctx) { // it may have been worked in
		return nil
	}
	at := git.Dir(p.Path)
	for _, args := range [][]string{{"symbolic-ref", "HEAD", "refs/heads/" + p.Branch}, {"read-tree", "HEAD"}} {
		if _, err := at.Run(ctx, args...); err != nil {
			return fail.Errorf(fail.Failed, "complete the worktree %s: %w", human.Quote(p.Path), err)
		}
	}
	_, err := at.Run(ctx, "checkout-index", "--all", "--quiet")
	if git.Code(err) > 0 { // it refuses each file that is there, and writes the others
		return nil
	}
	return err
}
