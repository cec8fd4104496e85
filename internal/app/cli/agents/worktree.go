package agents

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/supervisor"
)

// worktreeFlags are --worktree for a new branch, --worktree=BRANCH for any, and where a new one begins.
type worktreeFlags struct {
	given        bool
	branch, base string
}

func (w *worktreeFlags) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolFunc("worktree", "have git make a worktree for the agent, on the branch nbs/<handle>, or --worktree=BRANCH", func(text string) error {
		w.given, w.branch = text != "false", ""
		if text != "true" && text != "false" {
			w.branch = text
		}
		return nil
	})
	flags.Lookup("worktree").DefValue = "false" // as shown in the man page
	flags.StringVar(&w.base, "worktree-base", "", "the commit, branch or tag at which the new branch begins (default: what is checked out)")
}

// parse returns the worktree that is asked for; nil if none is.
func (w *worktreeFlags) parse() (*supervisor.Worktree, error) {
	if !w.given {
		if w.base != "" {
			return nil, fail.Errorf(fail.BadInput, "--worktree-base needs --worktree")
		}
		return nil, nil
	}
	if w.branch != "" {
		if err := agent.CheckBranch(w.branch); err != nil {
			return nil, err
		}
	}
	return &supervisor.Worktree{Branch: w.branch, Base: w.base}, nil
}

// sayTree prints what became of the worktree of a dismissed agent.
func sayTree(f *ui.Factory, verb string, gone *supervisor.Stopped) {
	handle := gone.Record.Handle
	if tree := gone.Tree; tree != nil {
		words := " was"
		if tree.BranchDeleted != "" {
			words = " and its branch " + human.Quote(tree.BranchDeleted) + " were"
		}
		f.Say("%s %s: its worktree%s removed; to bring it back: nbs-worker worktree restore %s", verb, handle, words, handle)
	}
	switch path := gone.Record.OwnWorktree.Path; {
	case gone.TreeGone:
		f.Say("%s %s: its worktree is not in %s; if you have moved it: git worktree repair NEW-PATH; if it was deleted: git worktree prune", verb, handle, human.Quote(path))
	case gone.TreeLeft != "" && gone.TreeLeft != path:
		f.Say("%s %s: what a removal has left of its worktree is in %s; to bring all of it back: nbs-worker worktree restore %s", verb, handle, human.Quote(gone.TreeLeft), handle)
	case gone.TreeLeft != "":
		f.Say("%s %s: its worktree stays: %s; to remove it with git: git worktree remove %s", verb, handle, human.Quote(gone.TreeLeft), human.ShellWord(gone.TreeLeft))
	}
}

func newWorktreeCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worktree",
		Short: "Show and restore the worktrees of agents",
		Long: ui.WithCodes(`Shows the git worktrees that spawn --worktree has made, and brings back one that was removed.

More: nbs-worker help worktrees.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker worktree list
  nbs-worker worktree restore alice`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fail.Errorf(fail.BadInput, "unknown command worktree %s", human.Quote(args[0])).Hint("nbs-worker worktree --help")
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newWorktreeListCmd(f), newWorktreeRestoreCmd(f))
	return cmd
}

func newWorktreeListCmd(f *ui.Factory) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:   "list",
		Short: "List the worktrees of agents, and what is kept of removed ones",
		Long: ui.WithCodes(`Prints one line per worktree: handle, state, branch, path, and why it cannot be removed now. The
state is "there" or "gone"; of one that was removed "kept", or "restored" while it is there again.
For these, the last field is the time for worktree restore --at. What was restored is kept too. In
a pipe the fields are separated by tabs.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit),
		Example: `  nbs-worker worktree list
  nbs-worker worktree list --json | jq -r '.[]|select(.state=="kept").ref'`,
		Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(runWorktreeList(cmd.Context(), f), "worktree list")
		},
	})
}

func runWorktreeList(ctx context.Context, f *ui.Factory) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	trees, kept, err := s.Trees(ctx)
	if err != nil {
		return err
	}
	all := append(agent.Mapped(trees, wire.NewWorktree), agent.Mapped(kept, wire.NewKeptWorktree)...)
	if f.JSON {
		return f.PrintJSON(all)
	}
	if len(all) == 0 {
		f.Note("no worktrees; to make one: nbs-worker spawn HANDLE --worktree")
		return nil
	}
	if f.Streams.OutTTY {
		return worktreeTable(f, s.Project.Store.Project(), all)
	}
	t := f.NewTable()
	for _, one := range all {
		t.Row(ui.Text(string(one.Handle)), ui.Text(one.State), ui.Text(one.Branch), ui.Text(one.Path), ui.Text(staysOr(one)))
	}
	return t.Flush()
}

// staysOr returns the last field of a worktree in a list.
func staysOr(one wire.AgentWorktree) string { return cmp.Or(one.Time, strings.Join(one.Stays, "; ")) }

// worktreeTable prints the list for people. BRANCH is there if one has another branch than the usual one of its handle.
func worktreeTable(f *ui.Factory, project string, all []wire.AgentWorktree) error {
	unusual := slices.ContainsFunc(all, func(one wire.AgentWorktree) bool { return one.Branch != agent.OwnBranches+string(one.Handle) })
	header := []string{"HANDLE", "STATE", "FOLDER", "BRANCH", "STAYS"}
	if !unusual {
		header = slices.Delete(header, 3, 4)
	}
	t := f.NewTable(header...)
	t.Under = 1
	for _, one := range all {
		cells := []ui.Cell{ui.Text(string(one.Handle)), ui.Text(one.State), placeCell(ui.Relative(project, one.Path))}
		if unusual {
			cells = append(cells, ui.Text(one.Branch))
		}
		t.Row(append(cells, ui.Text(staysOr(one)))...)
	}
	return t.Flush()
}

func newWorktreeRestoreCmd(f *ui.Factory) *cobra.Command {
	var handle, at, to string
	cmd := &cobra.Command{
		Use:   "restore <handle>",
		Short: "Bring back a worktree that was removed or deleted",
		Long: ui.WithCodes(`Brings back the worktree of a dismissed agent with the files that it had when it was removed,
ignored ones too: in its old folder, and on its branch, if that is free. Only you can read the
files afterwards; empty folders do not come back. What is kept stays kept. No agent is started.

Without --to, a worktree comes back only where worktrees are made (nbs-worker help worktrees).

If the agent has a record and its worktree was deleted by hand, the worktree is brought back as
far as git has it: as it was last staged or committed. A restore that was killed goes on when it
is asked for again.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example: `  nbs-worker worktree restore alice
  nbs-worker worktree restore alice --to ../alice-again`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := ui.OneHandle(cmd, args); err != nil {
				return err
			}
			handle = args[0]
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(runWorktreeRestore(cmd.Context(), f, agent.Handle(handle), at, to), "worktree restore", handle)
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "the time of its removal, as worktree list prints it (default: the last one)")
	cmd.Flags().StringVar(&to, "to", "", "a new folder in one that exists (default: where it was)")
	return f.WithJSON(cmd)
}

func runWorktreeRestore(ctx context.Context, f *ui.Factory, handle agent.Handle, at, to string) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	if to != "" {
		parent, err := ui.NamedFolder("--to", filepath.Dir(to))
		if err != nil {
			return err
		}
		to = filepath.Join(parent, filepath.Base(to))
	}
	done, err := s.RestoreTree(ctx, handle, at, to)
	if err != nil {
		return err
	}
	switch {
	case done.Kept.Ref == "":
		f.Say("the worktree was deleted by hand: what was neither staged nor committed in it is not brought back")
	case done.Branch == "":
		f.Say("its branch %s has moved or is checked out elsewhere: the worktree has no branch", human.Quote(done.Kept.Branch))
	}
	words := "restored " + human.Count(done.Files, "file") + " to " + human.Quote(done.Path)
	err = f.ShowOne(ui.Outcome{JSON: wire.NewRestoredWorktree(done), Handle: handle, Words: words})
	f.Note("to have an agent work there: nbs-worker spawn %s --cwd %s", handle, human.ShellWord(done.Path))
	return err
}
