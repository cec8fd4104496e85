package worktree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/platform/git"
	"nbs-worker/internal/platform/machine"
)

// A tree goes to another machine as its kept commit: git packs it, and the repository there brings the tree back from it.

// Cargo is a kept commit that goes to another machine.
type Cargo struct {
	Ref    string `json:"ref"`
	Commit string `json:"commit"`
}

// carryLooks are what keeps a tree from being moved. What is changed or in no other branch is no obstacle: it goes along.
func (t *Tree) carryLooks() []obstacleLook {
	return []obstacleLook{
		{"whether git is in the middle of something", t.midway},
		{"what is stashed", t.stashes},
		{"what is in its folders", t.unkeepable},
	}
}

// CarryObstacles returns why the tree cannot be moved to another machine now.
func (t *Tree) CarryObstacles(ctx context.Context, m *machine.Machine, ended bool) []Obstacle {
	return t.find(ctx, m, ended, t.carryLooks())
}

// CheckCarry checks, while the agent may still run, whether its tree can be moved. Errors: Conflict.
func (r *Removal) CheckCarry(ctx context.Context) error {
	if all := append(r.CarryObstacles(ctx, r.Machine, false), r.Others()...); len(all) > 0 {
		return r.refusal(all)
	}
	return nil
}

// Carry keeps the tree of an agent that has ended, and leaves it in its place.
func (r *Removal) Carry(ctx context.Context) (Cargo, error) {
	if all := append(r.CarryObstacles(ctx, r.Machine, true), r.Others()...); len(all) > 0 {
		return Cargo{}, r.refusal(all)
	}
	kept, err := r.keepAll(ctx)
	if err != nil {
		return Cargo{}, err
	}
	commit, err := r.common().Run(ctx, "rev-parse", "--verify", kept.Ref+"^{commit}")
	return Cargo{Ref: kept.Ref, Commit: commit}, err
}

// CheckUnchanged checks that the tree holds what a cargo of it has. Errors: Conflict.
func (r *Removal) CheckUnchanged(ctx context.Context, c Cargo) error {
	head, err := r.head(ctx)
	if err != nil {
		return err
	}
	dir, err := r.gitDir(ctx)
	if err != nil {
		return err
	}
	commits, err := r.looseCommits(ctx, dir, head)
	if err != nil {
		return err
	}
	packed, err := r.common().Run(ctx, "rev-parse", "--verify", c.Commit+"^1")
	if err != nil {
		return err
	}
	var more strings.Builder
	asked := strings.Join(append(commits, head), "\n") + "\n^" + c.Commit + "\n"
	if err := r.common().Pipe(ctx, strings.NewReader(asked), &more, "rev-list", "--max-count=1", "--stdin"); err != nil {
		return err
	}
	if packed != head || more.Len() > 0 {
		return fail.Errorf(fail.Conflict, "there are other commits in its worktree since it was packed")
	}
	return r.checkFiles(ctx, c)
}

// checkFiles checks that the files of the tree are those of a cargo.
func (r *Removal) checkFiles(ctx context.Context, c Cargo) error {
	root, err := os.OpenRoot(r.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	has, err := (&Kept{Ref: c.Commit}).tree(ctx, r.common())
	if err != nil {
		return err
	}
	_, _, other := r.compare(root, has, len(c.Commit))
	for name := range has {
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			other = append(other, human.Quote(name))
		}
	}
	if len(other) == 0 {
		return nil
	}
	slices.Sort(other)
	const most = 5
	return fail.Errorf(fail.Conflict, "its worktree has changed since it was packed: %s", strings.Join(other[:min(len(other), most)], ", "))
}

// Pack writes the objects of a cargo that a repository with some commits lacks.
func (c *Cargo) Pack(ctx context.Context, common string, have []string, to io.Writer) error {
	here, err := present(ctx, git.Dir(common), have)
	if err != nil {
		return err
	}
	asked := c.Commit + "\n"
	if len(here) > 0 {
		asked += "^" + strings.Join(here, "\n^") + "\n"
	}
	return git.Dir(common).Pipe(ctx, strings.NewReader(asked), to, "pack-objects", "--quiet", "--revs", "--thin", "--stdout")
}

// present returns the commits among some names that a repository has.
func present(ctx context.Context, common git.Dir, names []string) (here []string, err error) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return agent.CheckCommit(name) != nil })
	if len(names) == 0 {
		return nil, nil
	}
	var said strings.Builder
	err = common.Pipe(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"), &said, "cat-file", "--batch-check=%(objectname) %(objecttype)")
	for line := range strings.SplitSeq(said.String(), "\n") {
		if name, is := strings.CutSuffix(line, " commit"); is {
			here = append(here, name)
		}
	}
	return here, err
}

// Tips returns the newest commits of the branches of a project's repository, remote ones too. Errors: NotFound outside
// of a repository.
func Tips(ctx context.Context, project string) ([]string, error) {
	const most = "500"
	_, common, err := repository(ctx, project)
	if err != nil {
		return nil, err
	}
	said, err := git.Dir(common).Run(ctx, "for-each-ref", "--sort=-committerdate", "--count="+most, "--format=%(objectname)", "refs/heads", "refs/remotes", KeptRefs)
	return strings.Fields(said), err
}

// Land brings a tree from another machine to the place where trees of the project are made. It can be repeated after it
// was killed. branch is "" if the branch is in use here, and the tree has none. Errors: Conflict if the place is taken.
func (c *Cargo) Land(ctx context.Context, w Wish, base string, pack io.Reader) (t Tree, branch string, err error) {
	_, shared, err := repository(ctx, w.Project)
	if err != nil {
		return t, "", err
	}
	if err := mendEntries(shared); err != nil {
		return t, "", err
	}
	common := git.Dir(shared)
	if err := c.unpack(ctx, common, w.Handle, pack); err != nil {
		return t, "", err
	}
	all, err := KeptTrees(ctx, shared, w.Handle)
	if err != nil {
		return t, "", err
	}
	i := slices.IndexFunc(all, func(k Kept) bool { return k.Ref == c.Ref })
	if i < 0 {
		return t, "", fail.Errorf(fail.BadInput, "what came is not a kept worktree: %s", human.Quote(c.Ref))
	}
	k := &all[i]
	in, first, err := place(ctx, common, w.Folder)
	if err != nil {
		return t, "", err
	}
	t = Tree{Handle: w.Handle, Project: w.Project, OwnWorktree: agent.OwnWorktree{
		Common: shared, Branch: k.Branch, Path: filepath.Join(in, string(w.Handle)), Base: base,
	}}
	if err := checkPlace(t.Path, first); err != nil {
		return t, "", err
	}
	branch, err = t.land(ctx, k)
	return t, branch, err
}

// land makes the tree, unless an earlier call has.
func (t *Tree) land(ctx context.Context, k *Kept) (branch string, err error) {
	known, err := t.entry(ctx)
	if err != nil {
		return "", err
	}
	// A killed call may have unlocked the complete tree, and not locked it again.
	if known != nil && folder.Exists(t.Path) && (known.locked == t.reason() || !known.isLocked && known.head == k.Head) {
		return known.branch, t.Lock(ctx)
	}
	if err := t.forward(ctx, k); err != nil {
		return "", err
	}
	_, branch, err = k.restore(ctx, t)
	if err != nil {
		return "", err
	}
	return branch, t.Lock(ctx)
}

// forward moves a branch that was left behind here to the commit that came, if no tree has it checked out.
func (t *Tree) forward(ctx context.Context, k *Kept) error {
	tip, err := t.ownTip(ctx)
	if err != nil || tip == "" || tip == k.Head {
		return err
	}
	all, err := entries(ctx, t.common())
	if err != nil || slices.ContainsFunc(all, func(e entry) bool { return e.branch == k.Branch }) {
		return err
	}
	if _, err := t.common().Run(ctx, "merge-base", "--is-ancestor", tip, k.Head); err != nil {
		if git.Code(err) == 1 {
			return nil // it has gone another way, and stays
		}
		return err
	}
	_, err = t.common().Run(ctx, "update-ref", "refs/heads/"+k.Branch, k.Head, tip)
	return err
}

// unpack gives a repository the cargo, and its ref.
func (c *Cargo) unpack(ctx context.Context, common git.Dir, handle agent.Handle, pack io.Reader) error {
	if err := c.Check(handle); err != nil {
		return err
	}
	now, err := common.Run(ctx, "rev-parse", "--verify", "--quiet", c.Ref+"^{commit}")
	if now == c.Commit {
		return nil
	}
	if err != nil && git.Code(err) != 1 {
		return err
	}
	if err := common.Pipe(ctx, pack, io.Discard, "-c", "core.fsync=all", "-c", "transfer.fsckObjects=true", "index-pack", "--stdin", "--fix-thin", "--strict"); err != nil {
		return fail.Errorf(fail.Failed, "take in its worktree: %w", err)
	}
	_, err = common.Run(ctx, "update-ref", c.Ref, c.Commit)
	return err
}

// Check checks the names in a cargo of an agent. Errors: BadInput.
func (c *Cargo) Check(handle agent.Handle) error {
	_, isKept := parseKept(c.Ref, wordPath+"/x\n"+wordBranch+"x\n"+wordHead+c.Commit+"\n")
	if !isKept || !strings.HasPrefix(c.Ref, KeptRefs+string(handle)+"/") {
		return errors.Join(fail.Errorf(fail.BadInput, "%s is not the ref of a kept worktree", human.Quote(c.Ref)), agent.CheckCommit(c.Commit))
	}
	return agent.CheckCommit(c.Commit)
}

// checkCargo checks that a tree that was moved is still as it was packed.
func (r *Removal) checkCargo(ctx context.Context) error {
	if r.Carried == (Cargo{}) {
		return nil
	}
	return r.CheckUnchanged(ctx, r.Carried)
}
