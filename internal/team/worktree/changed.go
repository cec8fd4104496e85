package worktree

import (
	"bytes"
	"context"

	"nbs-worker/internal/platform/git"
)

// Changed returns how many files of a tree differ from its last commit. A folder without a committed file counts as one.
// It starts no program that only the repository names.
func Changed(ctx context.Context, path string) (int, error) {
	config, err := git.Dir(path).ReadConfig(ctx)
	if err != nil {
		return 0, err
	}
	said, err := git.Dir(path).RunWith(ctx, config.Env(), "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=all")
	return bytes.Count([]byte(said), []byte{0}), err
}
