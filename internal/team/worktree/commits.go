package worktree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/git"
)

// head returns the commit that is checked out in the tree.
func (t *Tree) head(ctx context.Context) (string, error) {
	return git.Dir(t.Path).Run(ctx, "rev-parse", "--verify", "HEAD^{commit}")
}

// tips returns the commits that the agent's work ends in: what is checked out, and the branch of the record.
func (t *Tree) tips(ctx context.Context) ([]string, error) {
	commit, err := t.head(ctx)
	if err != nil {
		return nil, err
	}
	own, err := t.ownTip(ctx)
	if err != nil || own == "" || own == commit {
		return []string{commit}, err
	}
	return []string{commit, own}, nil
}

// ownTip returns the commit of the branch of the record; "" if the branch is gone.
func (t *Tree) ownTip(ctx context.Context) (string, error) {
	tip, err := t.common().Run(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+t.Branch+"^{commit}")
	if git.Code(err) == 1 {
		return "", nil
	}
	return tip, err
}

// elsewhere are the arguments of rev-list for what other branches than those of agents have, remote ones too.
func (t *Tree) elsewhere() []string {
	return []string{"--not", t.Base, "--exclude=" + agent.OwnBranches + "*", "--exclude=" + t.Branch, "--branches", "--remotes"}
}

// unmerged finds commits that are in no other branch, by their names or by what they change.
func (t *Tree) unmerged(ctx context.Context) ([]Obstacle, error) {
	tips, err := t.tips(ctx)
	if err != nil {
		return nil, err
	}
	count := 0
	for _, tip := range tips {
		said, err := t.common().Run(ctx, append([]string{"rev-list", tip}, t.elsewhere()...)...)
		if err != nil {
			return nil, err
		}
		if said == "" {
			continue
		}
		within, err := t.isContained(ctx, tip)
		if err != nil {
			return nil, err
		}
		if !within {
			count = max(count, strings.Count(said, "\n")+1)
		}
	}
	if count == 0 {
		return nil, nil
	}
	const short = 12 // digits
	at := "git -C " + human.ShellWord(t.Path)
	return []Obstacle{{
		human.Count(count, "commit") + " of it in no other branch and no remote one",
		"to see what they change: " + at + " log --stat " + t.Base[:min(short, len(t.Base))] + "..HEAD; " + t.toMerge(ctx) + "; to push them: " + at + " push -u origin HEAD",
	}}, nil
}

// isContained reports whether another branch has, or has had, each file that the commits change as they leave it: a
// squash merge, or a rebase.
func (t *Tree) isContained(ctx context.Context, tip string) (bool, error) {
	others, err := t.others(ctx)
	if err != nil {
		return false, err
	}
	for _, other := range others {
		within, err := t.isContainedIn(ctx, tip, other)
		if err != nil || within {
			return within, err
		}
	}
	return false, nil
}

// others returns the branches that are no agent's, the latest first.
func (t *Tree) others(ctx context.Context) ([]string, error) {
	const most = "50"
	said, err := t.common().Run(ctx, "for-each-ref", "--sort=-committerdate", "--count="+most, "--format=%(refname)", "refs/heads", "refs/remotes")
	if err != nil || said == "" {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(said, "\n"), func(ref string) bool {
		return strings.HasPrefix(ref, "refs/heads/"+agent.OwnBranches) || ref == "refs/heads/"+t.Branch
	}), nil
}

func (t *Tree) isContainedIn(ctx context.Context, tip, other string) (bool, error) {
	fork, err := t.common().Run(ctx, "merge-base", other, tip)
	if git.Code(err) == 1 {
		return false, nil // they have nothing in common
	}
	if err != nil {
		return false, err
	}
	names, err := t.differing(ctx, fork, tip)
	if err != nil || len(names) == 0 {
		return err == nil, err
	}
	const most = "200" // merges that are looked at
	said, err := t.common().Run(ctx, append([]string{"--literal-pathspecs", "rev-list", "--first-parent", "--max-count=" + most, other, "--not", fork, "--"}, firsts(names)...)...)
	if err != nil || said == "" {
		return false, err
	}
	for commit := range strings.SplitSeq(said, "\n") {
		differs, err := t.differing(ctx, commit, tip)
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(differs, func(name string) bool { _, is := slices.BinarySearch(names, name); return is }) {
			return true, nil
		}
	}
	return false, nil
}

// firsts returns as many names as a command line has room for: the commits that touch one of them are enough, because a
// squash merge touches all.
func firsts(names []string) []string {
	const most = 100
	return names[:min(most, len(names))]
}

// differing returns the files that differ between two commits, sorted.
func (t *Tree) differing(ctx context.Context, a, b string) ([]string, error) {
	var said bytes.Buffer
	if err := t.common().Pipe(ctx, nil, &said, "diff-tree", "-r", "-z", "--name-only", "--no-renames", a, b); err != nil {
		return nil, err
	}
	if said.Len() == 0 {
		return nil, nil
	}
	names := strings.Split(strings.TrimSuffix(said.String(), "\x00"), "\x00")
	slices.Sort(names)
	return names, nil
}

// stashes finds stashed changes of the tree. They would not be deleted with it, but they would lose their place.
func (t *Tree) stashes(ctx context.Context) ([]Obstacle, error) {
	said, err := t.common().Run(ctx, "rev-parse", "--verify", "--quiet", "refs/stash")
	if git.Code(err) == 1 || err == nil && said == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if said, err = t.common().Run(ctx, "log", "--walk-reflogs", "--format=%P %gs", "refs/stash", "--"); err != nil {
		return nil, err
	}
	tips, err := t.tips(ctx)
	if err != nil {
		return nil, err
	}
	own, err := t.common().Run(ctx, append(append([]string{"rev-list"}, tips...), t.elsewhere()...)...)
	if err != nil {
		return nil, err
	}
	count := 0
	for line := range strings.SplitSeq(said, "\n") {
		on, subject, _ := strings.Cut(line, " ")
		_, words, _ := strings.Cut(line, " ")
		if i := strings.Index(words, "WIP on "); i >= 0 {
			subject = words[i+len("WIP on "):]
		} else if i := strings.Index(words, "On "); i >= 0 {
			subject = words[i+len("On "):]
		}
		if strings.HasPrefix(subject, t.Branch+":") || strings.Contains(own, on) {
			count++
		}
	}
	if count == 0 {
		return nil, nil
	}
	return []Obstacle{{human.Count(count, "change") + " of its branch in the stash", "to see it: git stash list"}}, nil
}

// toMerge returns the command that merges the tree's commits into what is checked out in the main tree, in words.
func (t *Tree) toMerge(ctx context.Context) string {
	all, err := entries(ctx, t.common())
	if err != nil || len(all) == 0 || t.Branch == "" {
		return "to keep them: merge them"
	}
	return "to merge them: git -C " + human.ShellWord(all[0].path) + " merge " + human.ShellWord(t.Branch)
}

// looseCommits returns the commits that only this tree reaches: those in the logs of its HEAD and of its branch, and in
// its own refs. They are what a reset, a rebase or a checkout has left behind.
func (t *Tree) looseCommits(ctx context.Context, dir, head string) ([]string, error) {
	named := map[string]bool{}
	for _, path := range []string{
		filepath.Join(dir, "logs/HEAD"), filepath.Join(t.Common, "logs/refs/heads", t.Branch), filepath.Join(dir, "ORIG_HEAD"), filepath.Join(dir, "FETCH_HEAD"),
	} {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for word := range strings.FieldsSeq(string(text)) {
			if len(word) == len(head) && isHex(word) && strings.Trim(word, "0") != "" {
				named[word] = true
			}
		}
	}
	refs, err := git.Dir(t.Path).Run(ctx, "for-each-ref", "--format=%(objectname)", "refs/worktree", "refs/bisect", "refs/rewritten", "refs/heads/"+t.Branch)
	if err != nil {
		return nil, err
	}
	for word := range strings.FieldsSeq(refs) {
		named[word] = true
	}
	return t.independent(ctx, named, head)
}

func isHex(word string) bool { return strings.Trim(word, "0123456789abcdef") == "" }

// independent returns the commits among some names that neither the head, another branch, nor another of them reaches.
// Names of what git no longer has are left out.
func (t *Tree) independent(ctx context.Context, named map[string]bool, head string) ([]string, error) {
	if len(named) == 0 {
		return nil, nil
	}
	var asked strings.Builder
	for name := range named {
		asked.WriteString(name + "\n")
	}
	var said bytes.Buffer
	if err := t.common().Pipe(ctx, strings.NewReader(asked.String()), &said, "cat-file", "--batch-check=%(objectname) %(objecttype)"); err != nil {
		return nil, err
	}
	var commits []string
	for line := range strings.SplitSeq(strings.TrimSpace(said.String()), "\n") {
		if name, is := strings.CutSuffix(line, " commit"); is && name != head {
			commits = append(commits, name)
		}
	}
	if len(commits) == 0 {
		return nil, nil
	}
	// What the walk finds, and what is no parent in it, is independent.
	var walked bytes.Buffer
	input := strings.Join(commits, "\n") + "\n^" + head + "\n"
	if err := t.common().Pipe(ctx, strings.NewReader(input), &walked, "rev-list", "--parents", "--stdin"); err != nil {
		return nil, err
	}
	parents, all := map[string]bool{}, []string{}
	for line := range strings.SplitSeq(strings.TrimSpace(walked.String()), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		all = append(all, words[0])
		for _, parent := range words[1:] {
			parents[parent] = true
		}
	}
	return slices.DeleteFunc(all, func(commit string) bool { return parents[commit] }), nil
}
