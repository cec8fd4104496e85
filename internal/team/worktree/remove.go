package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/platform/git"
	"nbs-worker/internal/platform/machine"
)

// Removed is what a removal has done.
type Removed struct {
	Kept          Kept   // what brings the tree back
	BranchDeleted string // "": the branch stays
}

// Removal removes the tree of an agent that has ended.
type Removal struct {
	Tree
	Machine *machine.Machine
	Others  func() []Obstacle // who else uses the tree, asked at the moment of removal
	Now     time.Time
	Carried Cargo // what of it is on another machine; zero: it was not moved

	again bool                    // it goes on with a removal that has perhaps deleted files
	after func(step string) error // of tests: what happens after a step
}

func (r *Removal) did(step string) error {
	if r.after == nil {
		return nil
	}
	return r.after(step)
}

// Remove removes the tree, if nothing can be lost, or goes on with a removal that was killed. Errors: Conflict with
// all reasons why the tree stays.
func (r *Removal) Remove(ctx context.Context) (Removed, error) {
	began, err := r.begun()
	if err != nil {
		return Removed{}, err
	}
	if r.again = began != ""; !r.again {
		if gone, err := r.isRemoved(ctx); err != nil || gone != nil {
			return Removed{Kept: deref(gone)}, err
		}
		if began, err = r.begin(ctx); err != nil {
			return Removed{}, err
		}
	}
	return r.finish(ctx, began)
}

// Check checks, while the agent may still run, whether its tree can be removed. Errors are those of Remove.
func (r *Removal) Check(ctx context.Context) error {
	began, err := r.begun()
	if err != nil || began != "" {
		return err
	}
	if gone, err := r.isRemoved(ctx); err != nil || gone != nil {
		return err
	}
	if all := append(r.Obstacles(ctx, r.Machine, false), r.Others()...); len(all) > 0 {
		return r.refusal(all)
	}
	return nil
}

func deref(k *Kept) Kept {
	if k == nil {
		return Kept{}
	}
	return *k
}

// aside is the beginning of the name of the folder into which a tree is moved while it is deleted. The stamp of its
// kept commit follows.
func (t *Tree) aside() string { return filepath.Base(t.Path) + ".removing-" }

// begun returns the folder of a removal that was killed; "" if none was. One that had not moved the tree yet is
// forgotten.
func (t *Tree) begun() (string, error) {
	parent := filepath.Dir(t.Path)
	found, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, d := range found {
		if !d.IsDir() || !strings.HasPrefix(d.Name(), t.aside()) {
			continue
		}
		at := filepath.Join(parent, d.Name())
		if _, err := os.Lstat(t.Path); err == nil && os.Remove(at) == nil { // it is empty
			continue
		}
		return at, nil
	}
	return "", nil
}

// IsBeingRemoved reports whether a removal was killed after it had moved the tree.
func (t *Tree) IsBeingRemoved() bool {
	began, err := t.begun()
	return began != "" || err != nil
}

// Left returns where the tree is, or what a removal that was killed has left of it; "" if it is not there.
func (t *Tree) Left() string {
	if t.IsThere() {
		return t.Path
	}
	if aside, err := t.begun(); err == nil && aside != "" {
		return t.within(aside)
	}
	return ""
}

// isRemoved returns what is kept of a tree that was removed completely; nil if it was not.
func (t *Tree) isRemoved(ctx context.Context) (*Kept, error) {
	if _, err := os.Lstat(t.Path); !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	known, err := t.entry(ctx)
	if err != nil || known != nil {
		return nil, err
	}
	all, err := KeptTrees(ctx, t.Common, t.Handle)
	if i := slices.IndexFunc(all, func(k Kept) bool { return k.Path == t.Path }); i >= 0 {
		return &all[i], err
	}
	return nil, err
}

// obstacles returns all reasons why the tree must stay now.
func (r *Removal) obstacles(ctx context.Context) error {
	find := r.Obstacles
	if r.Carried != (Cargo{}) {
		find = r.CarryObstacles
	}
	if all := append(find(ctx, r.Machine, true), r.Others()...); len(all) > 0 {
		return r.refusal(all)
	}
	return nil
}

// begin proves that nothing can be lost, keeps everything, proves it again, and moves the tree aside.
func (r *Removal) begin(ctx context.Context) (aside string, err error) {
	if err := r.obstacles(ctx); err != nil {
		return "", err
	}
	kept, err := r.keepAll(ctx)
	if err != nil {
		return "", err
	}
	if err := r.did("kept"); err != nil {
		return "", err
	}
	if err := r.obstacles(ctx); err != nil {
		return "", err
	}
	if err := r.checkCargo(ctx); err != nil {
		return "", err
	}
	if head, err := r.head(ctx); err != nil || head != kept.Head {
		return "", errors.Join(r.refusal([]Obstacle{{What: "another commit was checked out in it"}}), err)
	}
	aside = filepath.Join(filepath.Dir(r.Path), r.aside()+kept.When())
	const private = 0o700
	if err := os.Mkdir(aside, private); err != nil {
		return "", fail.Errorf(fail.Failed, "move the worktree aside: %w", err)
	}
	if err := r.did("beside"); err != nil {
		return "", err
	}
	if err := os.Rename(r.Path, r.within(aside)); err != nil {
		return "", fail.Errorf(fail.Failed, "move the worktree aside: %w", errors.Join(err, os.Remove(aside)))
	}
	return aside, r.did("moved")
}

func (t *Tree) within(aside string) string { return filepath.Join(aside, filepath.Base(t.Path)) }

// keepAll writes the kept commit of the tree as it is.
func (r *Removal) keepAll(ctx context.Context) (k Kept, err error) {
	root, err := os.OpenRoot(r.Path)
	if err != nil {
		return k, err
	}
	defer root.Close()
	head, err := r.head(ctx)
	if err != nil {
		return k, err
	}
	dir, err := r.gitDir(ctx)
	if err != nil {
		return k, err
	}
	loose, err := r.looseCommits(ctx, dir, head)
	if err != nil {
		return k, err
	}
	files, _, err := list(root)
	if err != nil {
		return k, r.refusal([]Obstacle{unknown("what is in it", err)})
	}
	return r.keep(ctx, root, files, head, loose, r.Now)
}

// finish deletes a tree that was moved aside, file by file, and makes git forget it.
func (r *Removal) finish(ctx context.Context, aside string) (done Removed, err error) {
	stamped, _ := strings.CutPrefix(filepath.Base(aside), r.aside())
	if done.Kept, err = r.keptAt(ctx, stamped); err != nil {
		return done, r.unread(aside, err)
	}
	if err := r.delete(ctx, aside, &done.Kept); err != nil {
		return done, err
	}
	if err := r.did("deleted"); err != nil {
		return done, err
	}
	if err := r.forget(ctx); err != nil {
		return done, err
	}
	if err := r.did("forgotten"); err != nil {
		return done, err
	}
	if done.BranchDeleted, err = r.deleteBranch(ctx, &done.Kept); err != nil {
		return done, err
	}
	if err := r.did("branch"); err != nil {
		return done, err
	}
	if err := os.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, fail.Errorf(fail.Failed, "remove the worktree: %w", err)
	}
	_ = os.Remove(filepath.Dir(r.Path)) // if it was the last one
	return done, nil
}

// keptAt returns the kept commit of a time.
func (t *Tree) keptAt(ctx context.Context, stamped string) (Kept, error) {
	all, err := KeptTrees(ctx, t.Common, t.Handle)
	if err != nil {
		return Kept{}, err
	}
	for _, k := range all {
		if k.When() == stamped && k.Path == t.Path {
			return k, nil
		}
	}
	return Kept{}, notKept(t.Handle)
}

// back moves a tree to its place again, and returns why.
func (t *Tree) back(aside string, why error) error {
	if _, err := os.Lstat(t.Path); !errors.Is(err, fs.ErrNotExist) {
		return fail.Errorf(fail.KindOf(why), "%w; it is in %s", why, human.Quote(t.within(aside))).Hint("its place is taken: %s", human.Quote(t.Path))
	}
	if err := os.Rename(t.within(aside), t.Path); err != nil {
		return fail.Errorf(fail.KindOf(why), "%w; it is in %s: %w", why, human.Quote(aside), err)
	}
	_ = os.Remove(aside)
	return why
}

// forget makes git forget the tree, which is deleted.
func (t *Tree) forget(ctx context.Context) error {
	known, err := t.entry(ctx)
	if err != nil || known == nil {
		return err
	}
	if folder.Exists(t.Path) {
		return fail.Errorf(fail.Conflict, "%s is there again, after its worktree was removed", human.Quote(t.Path))
	}
	if known.isLocked {
		if _, err := t.common().Run(ctx, "worktree", "unlock", t.Path); err != nil {
			return err
		}
	}
	_, err = t.common().Run(ctx, "worktree", "remove", t.Path)
	return err
}

// deleteBranch deletes the branch that was made for the agent, if the kept commit reaches it and no tree has it. The tree
// has the name of the handle for which both were made.
func (t *Tree) deleteBranch(ctx context.Context, kept *Kept) (string, error) {
	if t.Branch != agent.OwnBranch(agent.Handle(filepath.Base(t.Path))) {
		return "", nil
	}
	tip, err := t.ownTip(ctx)
	if err != nil || tip == "" {
		return "", err
	}
	all, err := entries(ctx, t.common())
	if err != nil || slices.ContainsFunc(all, func(e entry) bool { return e.branch == t.Branch }) {
		return "", err
	}
	if _, err := t.common().Run(ctx, "merge-base", "--is-ancestor", tip, kept.Ref); err != nil {
		if git.Code(err) == 1 {
			return "", nil
		}
		return "", err
	}
	if _, err := t.common().Run(ctx, "update-ref", "-d", "refs/heads/"+t.Branch, tip); err != nil {
		return "", err
	}
	return t.Branch, nil
}

// Unlock lets git and people do with the tree what they want. Errors are those of git.
func (t *Tree) Unlock(ctx context.Context) error { return t.unlockIf(ctx, t.reason()) }

// unlockIf unlocks the tree if its lock says a reason.
func (t *Tree) unlockIf(ctx context.Context, reason string) error {
	known, err := t.entry(ctx)
	if err != nil || known == nil || !known.isLocked || known.locked != reason {
		return err
	}
	_, err = t.common().Run(ctx, "worktree", "unlock", t.Path)
	return err
}

// relock locks the tree with another reason.
func (t *Tree) relock(ctx context.Context, reason string) error {
	known, err := t.entry(ctx)
	if err != nil || known == nil || known.isLocked && known.locked == reason {
		return err
	}
	if known.isLocked {
		if _, err := t.common().Run(ctx, "worktree", "unlock", t.Path); err != nil {
			return err
		}
	}
	_, err = t.common().Run(ctx, "worktree", "lock", "--reason", reason, t.Path)
	return err
}
