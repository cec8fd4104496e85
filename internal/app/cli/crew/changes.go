package crew

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/changes"
)

type changesOptions struct {
	wanted     changes.Wanted
	stat, base bool // the defaults, by name
	patch      bool
	stay       bool // until a key is pressed, as the dashboard needs it
	handle     agent.Handle
}

func newChangesCmd(f *ui.Factory) *cobra.Command {
	o := &changesOptions{}
	cmd := f.WithJSON(&cobra.Command{
		Use:   "changes <handle>",
		Short: "Show what an agent has changed",
		Long: ui.WithCodes(`Lists the files that an agent has changed in its git working tree, committed or not, with those
that git does not track yet. The commands that merge them are printed too; a merge stays with git.

--patch shows the lines, on a terminal in your own pager and diff tool, by your configuration of
git. In a pipe it is a patch for git apply. A program that only the repository names is not run.

Details:

The tree is compared with its base. In a worktree that is the commit where its branch left the
branch of the main tree; after a merge or a rebase, the last commit that both have. In the main
tree it is what was checked out when the agent was first started, and the list has what others
have changed there since. --against names another commit.

--since-turn shows the files that have changed since the agent's last turn began. A file that
had changes before the turn, and no commit of them, shows those too.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker changes theologian
  nbs-worker changes theologian --patch
  nbs-worker changes theologian --since-turn
  nbs-worker changes theologian --against main --patch | git apply --stat
  nbs-worker changes theologian --json | jq -r '.files[].path'`,
		Args:              ui.OneHandle,
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.AnyAgent)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.handle = agent.Handle(args[0])
			return ui.Failed(runChanges(cmd.Context(), f, o), "changes", args[0])
		},
	})
	flags := cmd.Flags()
	flags.BoolVar(&o.stat, "stat", false, "list the files (the default)")
	flags.BoolVar(&o.patch, "patch", false, "show the lines")
	flags.BoolVar(&o.wanted.SinceTurn, "since-turn", false, "compare with what was checked out when its last turn began")
	flags.BoolVar(&o.base, "base", false, "compare with the base (the default)")
	flags.StringVar(&o.wanted.Base, "against", "", "compare with this commit or branch")
	flags.BoolVar(&o.stay, "stay", false, "")
	_ = flags.MarkHidden("stay")
	cmd.MarkFlagsMutuallyExclusive("stat", "patch")
	cmd.MarkFlagsMutuallyExclusive("base", "against", "since-turn")
	return cmd
}

func runChanges(ctx context.Context, f *ui.Factory, o *changesOptions) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	r, err := s.Project.Store.Load(o.handle)
	if err != nil {
		return err
	}
	report, at := s.Project.Store.Report(o.handle), s.Project.Now()
	found, err := changes.Of(ctx, &r, &report, o.wanted)
	if err == nil {
		err = showChanges(ctx, f, o, found)
	}
	if err == nil {
		ui.NoteLook(ctx, s, at, o.handle)
	}
	return err
}

func showChanges(ctx context.Context, f *ui.Factory, o *changesOptions, c *changes.Changes) (err error) {
	patch := ""
	if o.patch && (f.JSON || !f.Streams.OutTTY) {
		if patch, err = c.Patch(ctx); err != nil {
			return err
		}
	}
	switch {
	case f.JSON:
		return f.PrintJSON(wire.NewChanges(o.handle, c, patch, mergeCommands(c)))
	case o.patch && !f.Streams.OutTTY:
		_, err = io.WriteString(f.Streams.Out, patch)
		return err
	}
	if o.stay { // what is written to stderr is read when this has ended
		defer func(before ui.Streams) { f.Streams = before }(f.Streams)
		f.Streams.Err, f.Streams.ErrTTY = f.Streams.Out, true
	}
	sayBase(f, c)
	switch {
	case len(c.Files) == 0:
		f.Note("%s", unchanged(o.handle, c))
	case o.patch:
		return page(ctx, f, o, c)
	default:
		err = listChanges(f, o, c)
	}
	if o.stay {
		awaitEnter(f)
	}
	return err
}

// sayBase says with what the tree is compared, and whose changes the list has.
func sayBase(f *ui.Factory, c *changes.Changes) {
	const short = 10 // digits
	base := c.Base.Commit[:min(short, len(c.Base.Commit))]
	f.Note("%s against %s, %s; %s since", human.Quote(c.Top), base, c.Base.Words, human.Count(c.Commits, "commit"))
	if !c.Own {
		f.SayNote("it has no worktree of its own: the list has what others have changed there too")
	}
	if c.Merged > 0 && len(c.Files) > 0 {
		f.SayNote(fmt.Sprintf("%s of its own %s merged into %s already", human.Count(c.Merged, "commit"), isOrAre(c.Merged), c.Main.Branch))
	}
	if c.InMain {
		f.SayNote(c.Main.Branch + " has each of these files as it is here, by another commit")
	}
}

// unchanged says that there is no change, and why not if the work is merged.
func unchanged(handle agent.Handle, c *changes.Changes) string {
	switch {
	case c.Merged > 0:
		return fmt.Sprintf("all that %s has changed is merged: %s of its own %s in %s", handle, human.Count(c.Merged, "commit"), isOrAre(c.Merged), c.Main.Branch)
	case c.IsBehindMain():
		return fmt.Sprintf("%s has changed nothing that %s does not have", handle, c.Main.Branch)
	}
	return fmt.Sprintf("%s has changed nothing", handle)
}

func isOrAre(count int) string {
	if count == 1 {
		return "is"
	}
	return "are"
}

// listChanges prints the files, and how to go on.
func listChanges(f *ui.Factory, o *changesOptions, c *changes.Changes) error {
	table := f.NewTable("CHANGE", "ADDED", "REMOVED", "COMMITTED", "FILE")
	for i := range c.Files {
		file := &c.Files[i]
		added, removed := ui.Number(int64(file.Added)), ui.Number(int64(file.Removed))
		if file.Binary {
			added, removed = ui.Text(""), ui.Text("")
		}
		committed, path := ui.Text("yes"), file.Path
		if file.Uncommitted {
			committed = ui.Cell{Text: "no", Colour: ui.Yellow}
		}
		if file.From != "" {
			path += ", was " + file.From
		}
		table.Row(ui.Text(file.Word()), added, removed, committed, ui.Text(path))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	f.Hint("to see the lines: nbs-worker changes %s --patch", o.handle)
	if c.Uncommitted > 0 && !c.IsMain {
		f.Hint("a merge leaves out what is not committed: nbs-worker send %s 'Commit your work.'", o.handle)
	}
	for _, command := range mergeCommands(c) {
		f.Hint("to merge: %s", command)
	}
	return nil
}

// mergeCommands returns the commands that bring an agent's commits into the branch of the main tree.
func mergeCommands(c *changes.Changes) []string {
	if c.Unmerged == 0 || c.InMain {
		return nil
	}
	branch := c.Branch
	if branch == "" {
		branch = c.Head
	}
	return []string{fmt.Sprintf("git -C %s merge %s", ui.LineQuote(c.Main.Path), ui.LineQuote(branch))}
}

// page shows the lines in the user's pager. With --stay, a short text stays until a key is pressed.
func page(ctx context.Context, f *ui.Factory, o *changesOptions, c *changes.Changes) error {
	if !o.stay {
		return c.Page(ctx)
	}
	pager, err := c.Pager(ctx)
	if err != nil {
		return err
	}
	program, _, _ := strings.Cut(pager, " ")
	if filepath.Base(program) == "less" {
		options, set := os.LookupEnv("LESS")
		if !set {
			options = "RX"
		}
		return c.Page(ctx, "LESS=-"+strings.TrimPrefix(options, "-")+" -+F")
	}
	err = c.Page(ctx)
	awaitEnter(f)
	return err
}

func awaitEnter(f *ui.Factory) {
	fmt.Fprint(f.Streams.Out, "Enter goes back")
	_, _ = bufio.NewReader(f.Streams.In).ReadString('\n') // the end of the input goes back too
}
