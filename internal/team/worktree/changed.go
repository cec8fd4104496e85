package worktree

import (
	"bytes"
	"context"

	"nbs-worker/internal/platform/git"
)

// Changed returns how many files of a tree differ from its last commit. A folder without a committed file counts as one.
func Changed(ctx context.Context, path string) (int, error) {
	said, err := git.Dir(path).Run(ctx, "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=all")
	return bytes.Count([]byte(said), []byte{0}), err
}
