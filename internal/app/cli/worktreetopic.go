package cli

const worktreesTopic = `spawn --worktree has git make a worktree for the agent, so that agents do not change each
other's files. It is never made by default. It is in <repository>.nbs/<handle> beside the
repository, or below $NBS_WORKTREES, on the branch nbs/<handle>. --worktree=BRANCH names
another branch, which is made if it does not exist; --worktree-base says where it begins.
git keeps the worktree locked while the agent has a record.

The ignored files that .worktreeinclude names, in git's language of patterns, are copied
from the repository's working tree. A file that is there already is never overwritten.

A worktree is removed only by dismiss --remove-worktree, and only if nothing can be lost:
  - no file is changed, or new and not ignored; no copied file differs
  - no merge or rebase is under way; nothing of its branch is stashed
  - no person has locked it with git worktree lock
  - each commit is in another branch or a remote one that git knows; or
    another branch has, or has had, all files as the commits leave them
  - no ignored folder holds a repository of its own
  - no other agent, and no process of yours, works in it; on Linux: no
    process of yours has a file of it open
What cannot be found out counts as a reason to keep it. The processes of other users cannot
be seen.

Before the removal, a commit below refs/nbs/kept/<handle>/ keeps all files with their bytes,
ignored ones too, and all commits that only the worktree had. Each file is deleted only if
that commit has it. A removal that was killed goes on when it is asked for again.
If a file cannot be deleted, the rest stays beside the place of the worktree, and the error says
where.

nbs-worker worktree restore <handle> brings back each file with its bytes, each link, and
whether a file can be run. Only you can read the files afterwards. Empty folders, times, owners
and other rights do not come back.

The kept commit is in the repository, with secrets such as .env in it, until its ref is deleted
and git gc has run. git push --mirror sends it too.

To free the space of what is kept, when you need it no more:
  git update-ref -d refs/nbs/kept/<handle>/<time>

Two agents share a worktree only if spawn --cwd names it. The new agent is told of the other at
its start, and the other by a message, which it gets when it is idle.

list shows the branch of each worktree, and how many files differ from its last commit.

doctor finds a worktree that was moved, deleted or unlocked, and says how to mend that; --fix
locks it. If one was deleted by hand, worktree restore <handle> brings back what git has of it.
dismiss without --remove-worktree leaves a worktree where it is, and unlocks it. A later agent
of that handle and branch works in it: spawn <handle> --worktree. So it does after a restore.

Claude has worktrees of its own: an agent enters one by a tool, and a resume goes back to it. If
git takes two seconds to confirm it, as on a busy machine, Claude works in the recorded folder
instead. resume warns of that, session and triage show it, and resume <handle> --force tries again.`
