package supervisor

import (
	"context"
	"fmt"
	"path/filepath"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/git"
)

// A record holds prompts and screens, and one that comes with a clone is somebody else's word:
// .nbs is no part of any repository.

func (s *Supervisor) gitFolder() git.Folder {
	return git.Folder{Parent: s.Store.Project(), Name: filepath.Base(s.Store.Folder()), Env: s.Env}
}

// keepOutOfGit has git ignore .nbs, whatever the repository's own files say of it. A verb that
// writes there calls it; where it cannot be done, nothing else fails.
func (s *Supervisor) keepOutOfGit(ctx context.Context) {
	s.ignored.Do(func() {
		if unignored, err := s.gitFolder().KeepOut(ctx); err == nil && unignored {
			_ = s.Store.IgnoreAll() // doctor tells
		}
	})
}

// tracked looks whether git has something of .nbs, or would take it.
func (d *doctor) tracked(ctx context.Context) []Finding {
	folder := d.gitFolder()
	at, name := agent.ShellWord(d.Store.Project()), agent.ShellWord(folder.Name)
	if files := folder.Tracked(ctx); len(files) > 0 {
		return []Finding{found(Failure, fmt.Sprintf("git tracks %s in %s, such as %s", agent.Count(len(files), "file"), folder.Name, agent.Quote(files[0])),
			"records hold prompts and last screens, and who clones the repository gets them; what comes with a clone is another's",
			fmt.Sprintf("take them out of the repository, they stay on disk: git -C %s rm -r --cached --quiet %s", at, name))}
	}
	if !folder.Unignored(ctx) {
		return nil
	}
	would := found(Warning, "git does not ignore "+folder.Name, "with the next git add, records get into the repository",
		`printf '*\n' >>`+agent.ShellWord(filepath.Join(d.Store.Folder(), ".gitignore")))
	would.repair = func(ctx context.Context) (string, error) {
		unignored, err := folder.KeepOut(ctx)
		if err == nil && unignored {
			err = d.Store.IgnoreAll()
		}
		return "had git ignore " + folder.Name, err
	}
	return []Finding{would}
}
