// Package skills has the verb that installs a skill for agents: a page of Claude Code's by which an agent uses this
// program. The page takes from the commands what it says of them.
package skills

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/skill"
)

// Commands are the commands for the skill.
var Commands = []ui.Command{{Name: "skill", Make: newSkillCmd, Plumbing: true}}

func newSkillCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill",
		Short: "Teach agents to use nbs-worker, by a skill of Claude Code's",
		Long: ui.WithCodes(`The skill is one page: how an agent starts colleagues, talks with them, answers them and brings
them back. An agent that runs sees a new skill at its next start. After an upgrade, nbs-worker
doctor says if an installed page is of another version, or was changed.`,
			fail.Failed, fail.BadInput),
		Example: `  nbs-worker skill show
  nbs-worker skill install`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fail.Errorf(fail.BadInput, "unknown command skill %s", human.Quote(args[0])).Hint("nbs-worker skill --help")
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newShowCmd(f), newInstallCmd(f), newRemoveCmd(f))
	return cmd
}

func newShowCmd(f *ui.Factory) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:     "show",
		Short:   "Print the page",
		Long:    ui.WithCodes("Prints the page as skill install writes it. It needs no project.", fail.Failed, fail.BadInput),
		Example: `  nbs-worker skill show`,
		Args:    ui.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			page, err := newPage(f)
			switch {
			case err != nil:
			case f.JSON:
				err = f.PrintJSON(wire.SkillPage{Version: page.Version, Text: string(page.Text())})
			default:
				_, err = f.Streams.Out.Write(page.Text())
			}
			return ui.Failed(err, "skill show")
		},
	})
}

// where is for whom a skill is installed.
type where struct {
	user, project, force bool
	plugin               string
	isPlugin             func() bool // reports whether --plugin was given
}

func (w *where) bind(cmd *cobra.Command, force string) {
	flags := cmd.Flags()
	flags.BoolVar(&w.project, "project", false, "for the agents of this project (the default)")
	flags.BoolVar(&w.user, "user", false, "for all your agents, and all your claudes")
	flags.StringVar(&w.plugin, "plugin", "", "as a plugin of Claude Code, in this folder")
	flags.BoolVar(&w.force, "force", false, force)
	cmd.MarkFlagsMutuallyExclusive("project", "user", "plugin")
	_ = cmd.MarkFlagDirname("plugin")
	w.isPlugin = func() bool { return flags.Changed("plugin") }
}

// place returns where the skill is or is to be.
func (w *where) place(f *ui.Factory) (skill.Place, error) {
	root, err := f.Founding()
	switch {
	case err != nil:
		return skill.Place{}, err
	case w.isPlugin() && w.plugin == "":
		return skill.Place{}, fail.Errorf(fail.BadInput, "--plugin needs a folder").Hint("nbs-worker skill install --help")
	case w.isPlugin():
		folder, err := filepath.Abs(w.plugin)
		return skill.AsPlugin(folder), err
	case !w.user:
		return skill.InProject(root), nil
	}
	cwd, err := ui.Absolute(".") // CLAUDE_CONFIG_DIR may be relative to it
	if err != nil {
		return skill.Place{}, err
	}
	config, err := claude.ConfigUsedBy(cwd, os.Getenv)
	if err != nil {
		return skill.Place{}, err
	}
	return skill.OfUser(filepath.Dir(config.SettingsFile())), nil
}

func newInstallCmd(f *ui.Factory) *cobra.Command {
	w := &where{}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write the skill where Claude looks for skills",
		Long: ui.WithCodes(`Writes the page into .claude/skills/nbs-worker of the project, or with --user of Claude's
configuration. An agent in a git worktree sees the page of the project only if its branch has it, or
with a Claude as new as 2.1.332. Repeat the command to renew the page. Only a person may install.

--plugin DIR writes a plugin. In Claude: /plugin marketplace add DIR, then /plugin install
nbs-worker@nbs-worker. For one start: claude --plugin-dir DIR.`,
			fail.Failed, fail.BadInput, fail.Conflict, fail.Held),
		Example: `  nbs-worker skill install
  nbs-worker skill install --user
  nbs-worker skill install --plugin ~/src/nbs-worker-plugin`,
		Args: ui.NoArguments,
		RunE: func(*cobra.Command, []string) error { return ui.Failed(runInstall(f, w), "skill install") },
	}
	w.bind(cmd, "replace a page that was changed, or is another's")
	return f.WithJSON(cmd)
}

func runInstall(f *ui.Factory, w *where) error {
	if err := f.CheckPerson("install a skill"); err != nil {
		return err
	}
	place, err := w.place(f)
	if err != nil {
		return err
	}
	page, err := newPage(f)
	if err != nil {
		return err
	}
	was, _ := place.Installed()
	changed, err := place.Install(page, w.force)
	if err != nil {
		return err
	}
	done, words := wire.SkillFile{Path: place.Page(), Change: wire.FileWritten}, "written"
	switch {
	case !changed:
		done.Change, words = wire.FileSame, "nothing to do, it is of this version"
	case was != "":
		done.Change, done.Old, words = wire.FileRenewed, was, "renewed; it was of nbs-worker "+was
	}
	if w.isPlugin() && changed {
		f.Hint("in Claude: /plugin marketplace add %s", human.ShellWord(filepath.Dir(filepath.Dir(filepath.Dir(place.Page())))))
		f.Hint("then, in Claude: /plugin install %[1]s@%[1]s", skill.Name)
	}
	if f.JSON {
		return f.PrintJSON(done)
	}
	return say(f, place.Page(), words)
}

func newRemoveCmd(f *ui.Factory) *cobra.Command {
	w := &where{}
	cmd := &cobra.Command{
		Use:   "remove",
		Short: "Remove the skill",
		Long: ui.WithCodes(`Removes what skill install has written there, and the folders that are then empty.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Held),
		Example: `  nbs-worker skill remove
  nbs-worker skill remove --user`,
		Args: ui.NoArguments,
		RunE: func(*cobra.Command, []string) error { return ui.Failed(runRemove(f, w), "skill remove") },
	}
	w.bind(cmd, "remove a page that was changed, or is another's")
	return f.WithJSON(cmd)
}

func runRemove(f *ui.Factory, w *where) error {
	if err := f.CheckPerson("remove a skill"); err != nil {
		return err
	}
	place, err := w.place(f)
	if err != nil {
		return err
	}
	removed, err := place.Remove(w.force)
	if f.JSON && len(removed) > 0 {
		gone := agent.Mapped(removed, func(path string) wire.SkillFile { return wire.SkillFile{Path: path, Change: wire.FileRemoved} })
		return cmp.Or(err, f.PrintJSON(gone))
	}
	for _, path := range removed {
		err = cmp.Or(err, say(f, path, "removed"))
	}
	return err
}

// say prints a path for a script, and for a person also what happened to it.
func say(f *ui.Factory, path, words string) error {
	path = human.Legible(path)
	if f.Streams.OutTTY {
		path += ": " + words
	}
	_, err := fmt.Fprintln(f.Streams.Out, path)
	return err
}
