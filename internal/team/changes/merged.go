package changes

import (
	"context"
	"slices"
	"strings"
)

// readMerged finds out how much of the agent's work the branch of the main tree has.
func (c *Changes) readMerged(ctx context.Context, index []string) (err error) {
	if c.IsMain || c.Main.Branch == "" || c.Head == "" {
		return nil
	}
	if c.Merged, err = c.countMerged(ctx); err != nil || c.Unmerged == 0 || len(c.Files) == 0 {
		return err
	}
	differ, err := c.names(ctx, index, "refs/heads/"+c.Main.Branch)
	c.InMain = err == nil && !slices.ContainsFunc(c.Files, func(f File) bool { return differ[f.Path] || differ[f.From] })
	return err
}

// countMerged counts the commits that were made in the tree, by git's log of it, and that the branch of the main tree has.
// Commits that the agent has merged into its own branch are not counted.
func (c *Changes) countMerged(ctx context.Context) (count int, err error) {
	began, err := c.commit(ctx, c.record.OwnWorktree.Base)
	if !c.Own || err != nil {
		return 0, nil //nolint:nilerr // where it began is unknown
	}
	logged, err := c.run(ctx, nil, "log", "--walk-reflogs", "--format=%H %gs", "HEAD", "--")
	if err != nil {
		return 0, err
	}
	made := map[string]bool{}
	for line := range strings.Lines(logged) {
		commit, how, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		made[commit] = made[commit] || makesCommit(how)
	}
	has, err := c.run(ctx, nil, "rev-list", "refs/heads/"+c.Main.Branch, "^"+began, "--")
	for commit := range strings.FieldsSeq(has) {
		if made[commit] {
			count++
		}
	}
	return count, err
}

// makesCommit reports whether a line of git's log of a tree tells of a new commit.
func makesCommit(how string) bool {
	verb, rest, _ := strings.Cut(how, ":")
	switch verb {
	case "rebase (start)", "rebase (finish)", "rebase (abort)":
		return false
	}
	word, _, _ := strings.Cut(verb, " ")
	return slices.Contains([]string{"commit", "rebase", "cherry-pick", "revert", "am"}, word) && rest != " fast-forward"
}

// names returns the files of the tree that differ from a commit.
func (c *Changes) names(ctx context.Context, index []string, commit string) (map[string]bool, error) {
	text, err := c.run(ctx, index, compared(commit, append(plain, "--name-only", "--no-renames", "-z")...)...)
	names := map[string]bool{}
	for name := range strings.SplitSeq(text, "\x00") {
		names[name] = name != ""
	}
	return names, err
}

// IsBehindMain reports whether the agent's own branch has moved, and has nothing that the branch of the main tree lacks.
func (c *Changes) IsBehindMain() bool {
	return c.Own && !c.IsMain && c.Main.Branch != "" && c.Unmerged == 0 && c.Head != c.record.OwnWorktree.Base
}
