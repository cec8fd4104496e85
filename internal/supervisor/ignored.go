package supervisor

import (
	"context"
	"path/filepath"

	"nbs-worker/internal/git"
)

// A record holds prompts and screens, and one that comes with a clone is somebody else's word:
// .nbs is no part of any repository.

// GitFolder is .nbs, as git is asked about it.
func (s *Supervisor) GitFolder() git.Folder {
	return git.Folder{Parent: s.Store.Project(), Name: filepath.Base(s.Store.Folder()), Env: s.Env}
}

// keepOutOfGit has git ignore .nbs, whatever the repository's own files say of it. A verb that
// writes there calls it; where it cannot be done, nothing else fails.
func (s *Supervisor) keepOutOfGit(ctx context.Context) {
	s.ignored.Do(func() {
		if unignored, err := s.GitFolder().KeepOut(ctx); err == nil && unignored {
			_ = s.Store.IgnoreAll() // doctor tells
		}
	})
}
